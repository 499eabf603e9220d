"""The vault: the key of one ROOST_HOME, what Roost seals with it, and the person's secrets.

Lives here: ``key`` (finds or makes the key), ``secret_service`` (the desktop's keyring), ``seal``
(AES-GCM for everything that Roost stores), ``store`` (secrets and logins), ``providers`` (programs
that hold secrets), ``totp`` (one-time codes), ``redaction`` (removes secrets from text).
May import: ``errors``, ``local``, ``vocabulary``; ahocorasick_rs, cryptography, jeepney.
Never here: anything that awaits, a browser's protocol, a value in an error or a log line.
Tests: tests/vault.
"""
