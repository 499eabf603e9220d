"""The work behind each operation: one function per row of the operation table.

Lives here: what each operation does, and what several of them share.

- pages: ``page_work`` (open, navigate, close), ``page_use`` (finds the tab and takes its turn),
  ``page_actions``, ``page_readings``, ``page_input`` (the mouse by points, the keyboard at the
  focus), ``element_readings`` (one element), ``pictures`` (screenshots, PDF files), ``waits``
  (``WaitFor``), ``web_reading`` (``Read``), ``batch`` (several operations in one call);
- parts of these: ``readiness`` (when a page is ready for a screenshot), ``own_requests`` (the
  requests that an action began), ``shown_page`` (the snapshot in a reply);
- sessions: ``session_work``, ``space_work`` (the queue for slots), ``jar_work``, ``login_reader``
  (reads logins from files in another process), ``move_work`` (to another machine),
  ``condition_work`` and ``devices`` (conditions of pages), ``clipboard_work``,
  ``local_files`` (files as pages), ``traffic_work`` (messages, HAR);
- the person: ``policy`` (where calls meet the policy), ``questions`` (hand-over and approval),
  ``secret_work`` and ``secret_documents`` (fill in secrets, guard the pages that got one),
  ``drawing_work``, ``house_work`` (what is used, for the dashboard), ``panels`` (the extension's
  popup);
- all calls: ``running_call`` (the call that the code runs for), ``subagent_work`` (reports of
  hooks), ``views`` (rows as callers see them).

May import: ``api``, ``broker``, ``broker.browser``, ``conditions``, ``core``, ``drivers``,
``errors``, ``hints``, ``local``, ``page``, ``profiles``, ``vault``, ``vocabulary``, ``wire``;
pydantic.
Never here: who may do what (``core``), who a caller is (``broker.doors``).
Tests: ``tests/broker/work``; ``roost.testing.broker_api.check_broker_api`` checks every operation.
"""
