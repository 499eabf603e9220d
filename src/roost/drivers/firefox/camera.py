"""Screenshots of one tab.

https://w3c.github.io/webdriver-bidi/#command-browsingContext-captureScreenshot has no scale.
Changing the tab's pixel ratio for a moment would work, but pages notice it: media queries and
canvases change, and images load again. So the screenshot is taken at full size and scaled down
afterwards by the browser's own codecs. This happens in the browser's blank first tab, where no page
can slow or disturb it.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable

from roost.drivers.base import Picture, Shot
from roost.drivers.connection import Json
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.navigation import Documents
from roost.drivers.firefox.scripts import SANDBOX
from roost.drivers.pictures import picture_size
from roost.errors import BadRequest, NotFound, RoostError, TooLarge, Unsupported

NEGATIVE_QUALITY = 0.85
"""JPEG quality of a screenshot that is scaled down. Above 0.9 Firefox needs four times as long."""
_SHRINK = """async (data, type, scale, quality) => {
  const whole = new Image();
  whole.src = URL.createObjectURL(new Blob([Uint8Array.fromBase64(data)], { type }));
  await whole.decode();
  URL.revokeObjectURL(whole.src);
  const paper = document.createElement("canvas");
  paper.width = Math.max(1, Math.round(whole.width * scale));
  paper.height = Math.max(1, Math.round(whole.height * scale));
  const pen = paper.getContext("2d", { willReadFrequently: true });
  pen.imageSmoothingQuality = "high";
  pen.drawImage(whole, 0, 0, paper.width, paper.height);
  const made = paper.toDataURL(type, quality);
  return made.slice(made.indexOf(",") + 1);
}"""


class Camera:
    """Takes screenshots of one tab.

    ``documents``: knows why a document is gone. ``darkroom``: returns the blank tab's context.
    """

    def __init__(
        self,
        bidi: BidiConnection,
        tab: str,
        documents: Documents,
        darkroom: Callable[[], Awaitable[str]],
    ) -> None:
        self._bidi = bidi
        self._tab = tab
        self._documents = documents
        self._darkroom = darkroom

    async def capture(self, shot: Shot) -> Picture:
        if shot.format not in ("jpeg", "png"):
            raise Unsupported(f"Firefox takes jpeg and png pictures, not {shot.format}.")
        data = await self._whole(shot)
        if shot.scale != 1:
            data = await self._shrunk(data, shot)
        picture = base64.b64decode(data)
        return Picture(picture, f"image/{shot.format}", *picture_size(picture))

    async def _whole(self, shot: Shot) -> str:
        quality = shot.quality / 100 if shot.scale == 1 else NEGATIVE_QUALITY
        params: Json = {
            "context": self._tab,
            "origin": "document" if shot.full_page else "viewport",
            "format": {"type": f"image/{shot.format}"},
        }
        if shot.format == "jpeg":
            params["format"]["quality"] = quality
        if shot.clip is not None:
            x, y, width, height = shot.clip
            params["clip"] = {"type": "box", "x": x, "y": y, "width": width, "height": height}
        count = self._documents.count
        try:
            taken = await self._bidi.call("browsingContext.captureScreenshot", params, self._tab)
        except BidiError as error:
            if error.is_document_gone:
                await self._documents.known_since(count)
            raise _refused(error) from None
        return str(taken["data"])

    async def _shrunk(self, data: str, shot: Shot) -> str:
        target = {"context": await self._darkroom(), "sandbox": SANDBOX}
        params: Json = {
            "functionDeclaration": _SHRINK,
            "arguments": [
                {"type": "string", "value": data},
                {"type": "string", "value": f"image/{shot.format}"},
                {"type": "number", "value": shot.scale},
                {"type": "number", "value": shot.quality / 100},
            ],
            "target": target,
            "awaitPromise": True,
        }
        try:
            answer = await self._bidi.call("script.callFunction", params, self._tab)
        except BidiError as error:
            raise _refused(error) from None
        if answer["type"] == "exception":
            raise TooLarge(
                "The picture is too large.", page_said=str(answer["exceptionDetails"]["text"])
            )
        return str(answer["result"]["value"])


def _refused(error: BidiError) -> RoostError:
    if error.is_document_gone:
        return NotFound("The page was left while its picture was taken.", hint="Take it again.")
    if "exceeds the maximum" in str(error):
        return TooLarge("The picture is too large.", page_said=str(error))
    return BadRequest("There is nothing to picture.", page_said=str(error))
