import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

/** Beyond this a reply is shown as plain text: parsing it anew for every paint would make typing wait. */
const LONGEST_MARKDOWN = 30_000;

const SAFE_LINK = /^(https?:|mailto:)/i;

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true });
// "README.md" is a file, not a site in Moldova; only addresses that say what they are become links.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// A remote picture would tell its host that somebody reads this.
parser.disable("image");
parser.validateLink = (url) => SAFE_LINK.test(url);

const TAGS = [
  "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "ul", "ol", "li",
  "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
];

/** A reply's Markdown as nodes; nothing in it is ever HTML of its own. */
export function markdownNodes(text: string): DocumentFragment {
  if (text.length > LONGEST_MARKDOWN) return plainNodes(text);
  const fragment = DOMPurify.sanitize(parser.render(text), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "start"],
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: SAFE_LINK,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  // What may be wider than the page is scrolled by keyboard too.
  for (const wide of fragment.querySelectorAll<HTMLElement>("pre, table")) wide.tabIndex = 0;
  return fragment;
}

function plainNodes(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const paragraph = document.createElement("p");
  paragraph.className = "plain";
  paragraph.textContent = text;
  fragment.append(paragraph);
  return fragment;
}
