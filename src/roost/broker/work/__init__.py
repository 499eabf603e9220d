"""The work behind each operation: one function per row of the operation table.

Lives here: ``page_work`` (open, navigate, close), ``page_use`` (finding a tab and taking its turn),
``page_actions`` and ``page_readings`` (acting in pages and reading them), ``page_input`` (the mouse
by points, the keyboard at the focus), ``pictures`` (screenshots and PDF files), ``readiness`` (when
a page is ready for a screenshot), ``own_requests`` (the requests that an action began),
``shown_page`` (the snapshot in a reply), ``session_work``, ``space_work``, ``jar_work``,
``login_reader`` (reads logins from files in another process), ``views`` (rows as callers
see them), ``panels`` (what the extension's popup page shows).
May import: ``api``, ``broker``, ``broker.browser``, ``conditions``, ``core``, ``drivers``,
``errors``, ``hints``, ``local``, ``page``, ``profiles``, ``vault``, ``vocabulary``, ``wire``;
pydantic.
Never here: who may do what (``core``), who a caller is (``broker.doors``).
Tests: ``tests/broker/work``; ``roost.testing.broker_api.check_broker_api`` checks every operation.
"""
