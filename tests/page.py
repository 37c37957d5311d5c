"""A page as a tree, to ask what is in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "wbr", "input", "img"}


@dataclass
class Node:
    """An element; children are elements and texts."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.children)

    def walk(self) -> Iterator["Node"]:
        yield self
        for each in self.children:
            if isinstance(each, Node):
                yield from each.walk()

    def all(self, tag: str = "", **wanted: str) -> list["Node"]:
        """The elements with this tag and these attributes; ``kind`` is a word of the class."""
        kind = wanted.pop("kind", None)
        return [
            node
            for node in self.walk()
            if (not tag or node.tag == tag)
            and (kind is None or kind in node.attributes.get("class", "").split())
            and all(node.attributes.get(name) == value for name, value in wanted.items())
        ]

    def one(self, tag: str = "", **wanted: str) -> "Node":
        (node,) = self.all(tag, **wanted)
        return node


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Node("page")]

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute of {tag} is given twice"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(text: str) -> Node:
    """The tree of a page; tags that do not close in order are a mistake."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert [node.tag for node in reader.open] == ["page"]
    return reader.open[0]
