"""Pictures of one tab.

https://w3c.github.io/webdriver-bidi/#command-browsingContext-captureScreenshot has no scale.
Setting the tab's pixel ratio for the moment would do, but pages notice (media queries, canvases,
images that load anew); so a picture is taken as it is and made smaller afterwards, by the page's
own process in our sandbox, with the browser's codecs.
"""

from __future__ import annotations

import base64

from roost.drivers.base import Picture, Shot
from roost.drivers.firefox.connection import BidiConnection, BidiError, Json
from roost.drivers.firefox.scripts import DocumentGone, Scripts
from roost.drivers.firefox.values import plain
from roost.drivers.firefox.waits import Course
from roost.drivers.pictures import picture_size
from roost.errors import BadRequest, NotFound, RoostError, TooLarge, Unsupported

NEGATIVE_QUALITY = 0.92
"""Of the picture that is made smaller afterwards."""
_SHRINK = """async (data, type, scale, quality) => {
  const binary = atob(data), bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  const whole = await createImageBitmap(new Blob([bytes], { type }));
  const width = Math.max(1, Math.round(whole.width * scale));
  const height = Math.max(1, Math.round(whole.height * scale));
  const paper = new OffscreenCanvas(width, height), pen = paper.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(whole, 0, 0, width, height);
  whole.close();
  const blob = await paper.convertToBlob({ type, quality });
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.readAsDataURL(blob);
  });
}"""


class Camera:
    """Of one tab, of which ``course`` knows why a document is gone."""

    def __init__(self, bidi: BidiConnection, tab: str, scripts: Scripts, course: Course) -> None:
        self._bidi = bidi
        self._tab = tab
        self._scripts = scripts
        self._course = course

    async def take(self, shot: Shot) -> Picture:
        if shot.format not in ("jpeg", "png"):
            raise Unsupported(f"Firefox takes jpeg and png pictures, not {shot.format}.")
        data = await self._capture(shot)
        if shot.scale != 1:
            data = await self._shrunk(data, shot)
        picture = base64.b64decode(data)
        return Picture(picture, f"image/{shot.format}", *picture_size(picture))

    async def _capture(self, shot: Shot) -> str:
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
        turns = self._course.turns
        try:
            taken = await self._bidi.call("browsingContext.captureScreenshot", params, self._tab)
        except BidiError as error:
            if error.is_document_gone:
                await self._course.known_since(turns)
            raise _refused(error) from None
        return str(taken["data"])

    async def _shrunk(self, data: str, shot: Shot) -> str:
        given: list[Json] = [
            {"type": "string", "value": data},
            {"type": "string", "value": f"image/{shot.format}"},
            {"type": "number", "value": shot.scale},
            {"type": "number", "value": shot.quality / 100},
        ]
        try:
            return str(plain(await self._scripts.ask(None, _SHRINK, *given)))
        except DocumentGone:
            raise _left() from None


def _left() -> NotFound:
    return NotFound("The page was left while its picture was taken.", hint="Take it again.")


def _refused(error: BidiError) -> RoostError:
    if error.is_document_gone:
        return _left()
    if error.code == "too large" or "exceeds the maximum" in str(error):
        return TooLarge(f"The picture is too large: {error}.")
    return BadRequest(f"There is nothing to picture: {error}.")
