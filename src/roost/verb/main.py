"""One run of a page verb: words to a call, the call to the broker, the answer to stdout.

Exit codes: 0 done, 1 refused or failed, 2 used wrongly, 130 interrupted by Ctrl-C. The process ends
with ``os._exit``: there is nothing to clean up, and the interpreter's own end costs milliseconds.
"""

import os

from roost import __version__
from roost.verb.arguments import Call, UsedWronglyError, fill, split
from roost.verb.broker_socket import LostError, NoBrokerError, ask, connect, home
from roost.verb.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

DONE, FAILED, USED_WRONGLY, INTERRUPTED = 0, 1, 2, 130


def run(words: "list[str]") -> bool:
    """Run the verb that the words name, and end the process. Return False if they name none."""
    if words[:1] == ["--version"]:
        _end(DONE, f"roost {__version__}")
    table = Table()
    try:
        call, left = split(words)
        found = table.verb(left)
        if found is None:
            return _run_other(table, call, left)
        name, row, count = found
        if left[count:] and left[count] in ("-h", "--help"):
            _help(table, [name])
        fill(call, name, row, left[count:])
        if call.options.get("help"):
            _help(table, [name])
        _run_verb(table, call, name, row["op"])
    except UsedWronglyError as wrong:
        from roost.verb.help import explain

        _end(USED_WRONGLY, explain(wrong, words, table), 2)
    except KeyboardInterrupt:
        _end(INTERRUPTED)


def _run_other(table: Table, call: Call, left: "list[str]") -> bool:
    """Run ``call``, ``help`` or ``completion``, or return False for commands that are not verbs."""
    if not left:
        if call.options.get("help"):
            _help(table, [])
        return False
    if left[0] == "help":
        _help(table, left[1:])
    if left[0] == "call":
        from roost.verb.any_operation import fill_call

        _run_verb(table, call, "call", fill_call(call, left[1:]))
    if left[0] in ("completion", "__complete"):
        from roost.verb.completion import complete, script

        _end(DONE, script(left[1:]) if left[0] == "completion" else complete(table, left[1:]))
    commands = table.entry("commands")
    if left[0] not in commands:
        first = [words.split()[0] for words in table.entry("names")]
        known = [*commands, *first, *table.entry("aliases")]
        raise UsedWronglyError(f"There is no command {left[0]}.", left[0], known)
    return False


def _help(table: Table, words: "list[str]") -> "NoReturn":
    from roost.verb.help import help_on

    _end(DONE, help_on(table, words))


def _run_verb(table: Table, call: Call, name: str, operation: str) -> "NoReturn":
    options = call.options
    session = options.get("session") or os.environ.get("ROOST_SESSION")
    if session and "session" not in call.arguments:
        call.arguments["session"] = session
    form = "json" if options.get("json") else "raw" if options.get("raw") else "text"
    output = options.get("output")
    message: dict[str, Any] = {"op": operation, "args": call.arguments, "verb": name, "as": form}
    message["tty"] = output is None and os.isatty(1)
    if "timeout" in options:
        try:
            message["timeoutMs"] = float(options["timeout"]) * 1000
        except ValueError:
            raise UsedWronglyError("--timeout needs a number of seconds.") from None
    welcome, answer = _asked(table, options, message)
    error, text = answer.get("error"), answer.get("text", "")
    if error is not None:  # the broker refused the hello
        text = f"{error.get('code')}: {error.get('message')}\nhint: {error.get('hint')}"
        if error.get("field") == "kind":
            text += "\nThe broker is older than this command: run `roost stop && roost up`."
    code = answer.get("code", FAILED)
    if code != DONE:
        _end(code, text, 1 if form == "json" and error is None else 2)
    if name == "session id":
        text = _session_id(form, text, welcome)
    if output is not None:
        text = _written(output, text)
    _end(DONE, text)


def _asked(
    table: Table, options: "dict[str, Any]", message: "dict[str, Any]"
) -> "tuple[dict[str, Any], dict[str, Any]]":
    try:
        try:
            sock, token = connect(home())
        except NoBrokerError:
            from roost.verb.start import started

            sock, token = started(_progress)
    except PermissionError as refused:
        from roost.verb.sandbox import refusal

        _end(FAILED, refusal(refused), 2)
    about = table.entry("hello")
    hello = {"versions": about["versions"], "kind": "verb", "token": token, "software": __version__}
    if options.get("operator"):
        hello["operator"] = True
    conversation = _conversation(about["conversation"])
    if conversation:
        hello["session"] = conversation
    try:
        return ask(sock, hello, message, _progress)
    except LostError:
        text = (
            f"INTERRUPTED: The broker went away during {message['verb']}; nobody knows whether it"
            " was done.\nhint: Look at the page with `roost snapshot`."
        )
        _end(FAILED, text, 2)


def _conversation(variables: "list[str]") -> "str | None":
    """Return the conversation that a client started this process for, if it names one."""
    named = next((os.environ[name] for name in variables if os.environ.get(name)), "")
    letters = named.translate({ord(c): None for c in "._:-"})
    is_id = named.isascii() and named[:1].isalnum() and letters.isalnum() and len(named) <= 64
    return named if is_id else None


def _session_id(form: str, text: str, welcome: "dict[str, Any]") -> str:
    """Return the id of the session that a verb uses here. In text, also why."""
    if form != "text":
        return text
    session = text.partition("Session ")[2].partition(" ")[0].rstrip(":")
    return f"{session}\n{welcome.get('why') or ''}".rstrip()


def _written(path: str, text: str) -> str:
    data = (text if text.endswith("\n") else text + "\n").encode("utf-8", "replace")
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as problem:
        _end(FAILED, f"BAD_REQUEST: {path} cannot be written: {problem.strerror}.", 2)
    return f"Written to {os.path.abspath(path)} ({len(data)} bytes)."


def _progress(text: str) -> None:
    _write(2, text)


def _end(code: int, text: str = "", fd: int = 1) -> "NoReturn":
    """Print the text and end the process."""
    try:
        if text:
            _write(fd, text)
    except BrokenPipeError:
        code = FAILED  # the reader has closed the pipe
    except KeyboardInterrupt:
        code = INTERRUPTED
    os._exit(code)


def _write(fd: int, text: str) -> None:
    data = (text if text.endswith("\n") else text + "\n").encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(fd, data) :]
