"""The broker performs what the core decided.

Lives here: ``broker``, ``decisions`` (the only way into the core), ``journal``, ``audit`` and
``audit_kinds`` (the audit trail), ``clock``, ``tasks``, ``tokens``, ``watchers`` (delivers
notices), ``change_signal``, ``text_limits``; ``policy_text`` (parses policies), ``download_judge``
(downloads meet the policy), ``secret_values`` (the vault's values, and their removal from replies),
``subagent_reports`` (which sub-agent makes a call), ``dashboard_logins``, ``desktop``
(notifications), ``drawings`` (what the person has shown agents). Its rooms: ``doors`` (how a
connection becomes a caller), ``work`` (what each operation does), ``browser`` (one browser with its
jars and tabs).
May import: ``api``, ``broker.browser``, ``core``, ``drivers``, ``errors``, ``hints``, ``local``,
``profiles``, ``vault``, ``vocabulary``; pydantic. Of ``drivers`` only modules that every browser
shares.
Never here: who may do what (core decides), a concrete driver (daemon), a front end.
Tests: ``tests/broker``; ``roost.testing.broker_api.check_broker_api`` tests it and every front end.
"""
