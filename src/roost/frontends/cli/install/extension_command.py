"""``roost install extension``: do everything but the click that only the person can make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click

from roost.frontends.cli.install import extension
from roost.local.home import Home

LOAD: Final = {
    "chromium": (
        "Open chrome://extensions (brave://, edge:// likewise) and switch on “Developer mode”.",
        "Click “Load unpacked” and choose {folder}",
        "Pin Roost's button to the toolbar: there you see, pause and end what agents do.",
    ),
    "firefox": (
        "Open about:debugging#/runtime/this-firefox and click “Load Temporary Add-on…”.",
        "Choose {folder}/manifest.json",
        "It stays until Firefox is restarted. In Firefox ESR, Developer Edition and Nightly it can "
        "stay for good: set xpinstall.signatures.required to false in about:config, and install "
        "the .xpi that `make build` packs.",
    ),
}
SANDBOXED: Final = (
    "A browser from Snap or Flatpak cannot start programs outside its sandbox: use a package of "
    "your system, or the vendor's own. (A Firefox from Snap asks the desktop's WebExtensions "
    "portal for it, where there is one, as on Ubuntu; that is untried.)"
)


@click.command("extension")
@click.option(
    "--browser",
    type=click.Choice(extension.KINDS),
    required=True,
    help="Chromium stands for Chrome, Brave, Edge and Vivaldi, too.",
)
@click.option("--print", "print_only", is_flag=True, help="Only show what would be written.")
@click.option("--remove", is_flag=True, help="Take it out again.")
def install_extension(browser: str, print_only: bool, remove: bool) -> None:
    """Your own browser: the extension, and the native host it speaks to Roost through.

    Writes a manifest for each browser of that kind that is used here, and a folder with the
    extension for you to load; then says what to click.
    """
    home = Home.find()
    where = _where(browser)
    if print_only:
        for path in where:
            click.echo(f"{path}:")
            click.echo(json.dumps(extension.manifest(home, browser), indent=2))
        click.echo(f"{extension.launcher(home)}:")
        click.echo(extension.launcher_text(home), nl=False)
    elif remove:
        for path in extension.remove(home, browser):
            click.echo(f"Removed {path}.")
        click.echo("Remove the extension itself in the browser, where you loaded it.")
    else:
        extension.install(home, browser, where)
        for path in where:
            click.echo(f"The native host is known to {_title(browser, path)}: {path}")
        click.echo("Now the extension:")
        folder = extension.folder(home, browser)
        for number, step in enumerate(LOAD[browser], start=1):
            click.echo(f"  {number}. {step.format(folder=folder)}")
        click.echo(SANDBOXED)


def _where(browser: str) -> list[Path]:
    """Return the manifests of the browsers that are used here.

    If none is used, return the manifests of all browsers, because one may be installed later.
    """
    places = extension.places(browser)
    return [one.manifest for one in places if one.is_there] or [one.manifest for one in places]


def _title(browser: str, manifest: Path) -> str:
    places = extension.places(browser)
    return next(one.browser for one in places if one.manifest == manifest)
