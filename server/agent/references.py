"""Phrases that name something of the conversation: "the last link", "that screenshot", 第二个.

They are resolved by rules against :class:`ConversationState`, before the tool model is asked. A web address
or a path that stands in the text itself is explicit and needs no resolving, so it is no reference; a phrase
whose anchor the state doesn't hold is left for the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from server.agent.ordinals import places
from server.agent.state import ConversationState

Kind: TypeAlias = Literal["url", "file", "image", "search_result"]


@dataclass(frozen=True, slots=True)
class Reference:
    """What a phrase means: an address, a path, a picture's reference, or a search result's address."""

    kind: Kind
    value: str

    def as_json(self) -> dict[str, str]:
        return {"kind": self.kind, "value": self.value}


def resolve(text: str, state: ConversationState) -> list[Reference]:
    """The references in ``text``, in the order of their phrases, each once."""
    found = [*_links(text, state), *_files(text, state), *_images(text, state), *_listed(text, state)]
    found.sort(key=lambda placed: placed[0])
    return list(dict.fromkeys(reference for _, reference in found))


_Placed: TypeAlias = tuple[int, Reference]

_EN_POINTER = (
    r"\b(?:that|this|the\s+(?:same|last|latest|previous|prior|earlier|recent)"
    r"|(?:your|my)\s+(?:last|previous|latest))"
)
_ZH_POINTER = (
    r"(?:(?:刚才|刚刚|刚|之前|先前|前面|上面|上次|方才|最近|最后)(?:那|这|[我你]?(?:给|发|贴|打开|看|读|说|提到|截)(?:过|到)?)?的?"
    r"(?:那|这|同)?一?|[那这该]一?|同一|[上前](?:一|(?=[个张份条幅篇])))"
)


def _pointing(english: str, chinese: str, measures: str) -> re.Pattern[str]:
    """A pointer with a noun: "that link", 刚才那个链接."""
    return re.compile(
        rf"(?i){_EN_POINTER}\s+(?:{english})(?![\w-])|{_ZH_POINTER}[{measures}]?的?(?:{chinese})"
    )


_LINK: Final = _pointing(
    r"(?:web\s?)?(?:link|url|page|site|website|web\s?page|address)(?!\s+(?:numbers?|file))",
    "链接|网址|网页|网站|页面|URL",
    "个条篇份",
)
_FILE: Final = _pointing(
    r"(?:source\s+|config\s+|text\s+)?(?:file|document|script|module)(?!\s*(?:system|name|size|format))",
    "文件(?!夹|系统|名|格式)|文档|脚本",
    "个份篇",
)
_IMAGE: Final = _pointing(
    r"(?:screen\s?shot|screen\s?capture|picture|image|photo|pic|capture)s?",
    "截图|截屏|图片|图像|照片|屏幕截图|图(?![书标表形])",
    "个张幅份",
)
_THE_IMAGE: Final = re.compile(
    r"(?i)(?<!take )(?<!taking )(?<!make )(?<!grab )(?<!capture )"
    r"\bthe\s+(?:screen\s?shot|picture|image|photo)\b"
    r"|(?:截图|图)[里中上](?=的|有|那|这|是|左|右|上|下|最|写|显|什)"
)
# With a list at hand, 最后一个链接 names its last item, not the page that was read last.
_LAST_OF_LIST: Final = re.compile(r"最后一?[个条篇]")


def _links(text: str, state: ConversationState) -> Iterator[_Placed]:
    for match in _LINK.finditer(text):
        if state.last_search and _LAST_OF_LIST.match(match.group()):
            continue
        if state.last_url_ok is not None:
            yield match.start(), Reference("url", state.last_url_ok)
        elif state.last_search and re.search("(?i)last|最后", match.group()):
            last = max(state.last_search, key=lambda result: result.n)
            yield match.start(), Reference("search_result", last.url)


def _files(text: str, state: ConversationState) -> Iterator[_Placed]:
    if state.last_file is not None:
        for match in _FILE.finditer(text):
            yield match.start(), Reference("file", state.last_file)


def _images(text: str, state: ConversationState) -> Iterator[_Placed]:
    if state.last_image_ref is not None:
        for pattern in (_IMAGE, _THE_IMAGE):
            for match in pattern.finditer(text):
                yield match.start(), Reference("image", state.last_image_ref)


def _listed(text: str, state: ConversationState) -> Iterator[_Placed]:
    results = sorted(state.last_search, key=lambda result: result.n)
    by_number = {result.n: result for result in results}
    for at, place in places(text, len(results)):
        if 0 <= place < len(results):
            yield at, Reference("search_result", by_number.get(place + 1, results[place]).url)
