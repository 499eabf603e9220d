"""Screenshots and PDFs of one tab, made in the background."""

from __future__ import annotations

import base64

from roost.drivers.base import Picture, Shot
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.connection import Json
from roost.drivers.pictures import picture_size
from roost.errors import BadRequest, TooLarge, Unsupported
from roost.vocabulary import LINK_FRAME_BYTES, MIB

PART_BYTES = MIB
_UNSEEN: Json = {
    "format": "jpeg",
    "quality": 1,
    "maxWidth": 16,
    "maxHeight": 16,
    "everyNthFrame": 1000,
}


class Camera:
    """Takes screenshots and PDFs of the tab of one protocol session."""

    def __init__(self, cdp: CdpConnection, session: str) -> None:
        self._cdp = cdp
        self._session = session

    async def capture(self, shot: Shot) -> Picture:
        if shot.format not in ("jpeg", "png"):
            raise Unsupported(f"Chromium takes jpeg and png pictures, not {shot.format}.")
        x, y, width, height = await self._area(shot)
        params: Json = {
            "format": shot.format,
            "clip": {"x": x, "y": y, "width": width, "height": height, "scale": shot.scale},
            "captureBeyondViewport": shot.full_page,
            "optimizeForSpeed": True,
        }
        if shot.format == "jpeg":
            params["quality"] = shot.quality
        # A background tab draws no frames, so the screenshot would wait forever. A screencast makes
        # the tab draw. Nobody uses the screencast's own frames.
        self._cdp.tell("Page.startScreencast", _UNSEEN, self._session)
        try:
            picture = await self._cdp.call("Page.captureScreenshot", params, self._session)
        finally:
            self._cdp.tell("Page.stopScreencast", None, self._session)
        data = base64.b64decode(picture["data"])
        return Picture(data, f"image/{shot.format}", *picture_size(data))

    async def pdf(self) -> bytes:
        try:
            options = {"printBackground": True, "transferMode": "ReturnAsStream"}
            printed = await self._cdp.call("Page.printToPDF", options, self._session)
        except CdpError as error:
            raise Unsupported("The page cannot be printed.", page_said=str(error)) from None
        return await self._read(printed["stream"])

    async def _read(self, stream: str) -> bytes:
        """Read the stream in parts: one large reply would block the pipe that all tabs share."""
        data, is_over = bytearray(), False
        try:
            while not is_over:
                ask = {"handle": stream, "size": PART_BYTES}
                part = await self._cdp.call("IO.read", ask, self._session)
                is_encoded, is_over = part.get("base64Encoded"), part["eof"]
                data += base64.b64decode(part["data"]) if is_encoded else part["data"].encode()
                if len(data) > LINK_FRAME_BYTES:
                    raise TooLarge(f"The print is larger than {LINK_FRAME_BYTES // MIB} MiB.")
        finally:
            self._cdp.tell("IO.close", {"handle": stream}, self._session)
        return bytes(data)

    async def _area(self, shot: Shot) -> tuple[float, float, float, float]:
        """Return the area to capture (x, y, width, height) in the document's coordinates."""
        metrics = await self._cdp.call("Page.getLayoutMetrics", None, self._session)
        if shot.full_page:
            size = metrics["cssContentSize"]
            return 0, 0, size["width"], size["height"]
        view = metrics["cssVisualViewport"]
        if shot.clip is None:
            return view["pageX"], view["pageY"], view["clientWidth"], view["clientHeight"]
        x, y, width, height = shot.clip
        if x >= view["clientWidth"] or y >= view["clientHeight"]:
            raise BadRequest("clip: it lies outside of the viewport.")
        return view["pageX"] + x, view["pageY"] + y, width, height
