"""Views of secrets have no field for a value, and name a provider to the person only."""

from __future__ import annotations

from roost.api.secret_views import SecretsView, SecretTestView, SecretView


def test_no_view_has_room_for_a_value() -> None:
    for view in (SecretView, SecretsView, SecretTestView):
        assert {"value", "totp_value", "password"}.isdisjoint(view.model_fields)


def test_what_is_unknown_is_left_out_of_the_reply() -> None:
    listed = SecretsView(secrets=[SecretView(name="mail", origins=["https://site.test"])])
    assert listed.to_wire() == {"secrets": [{"name": "mail", "origins": ["https://site.test"]}]}
    tested = SecretTestView(name="mail", ok=True, chars=12)
    assert tested.to_wire() == {"name": "mail", "ok": True, "chars": 12}
