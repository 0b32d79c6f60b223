import DOMPurify from "dompurify";

import { SAFE_LINK } from "./blocks.js";

const TAGS = [
  "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "ul", "ol", "li",
  "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
];

/** What stands for one piece of code. */
export type CodeElement = (code: string, language: string) => HTMLElement;

/** One block of a reply as an element; nothing in it is ever HTML of its own. */
export function blockElement(block: string, codeElement: CodeElement): Element {
  const fragment = DOMPurify.sanitize(block, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "start", "class"],
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: SAFE_LINK,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  for (const pre of fragment.querySelectorAll("pre")) {
    const language = /\blanguage-(\S+)/.exec(pre.firstElementChild?.className ?? "")?.[1] ?? "";
    pre.replaceWith(codeElement(pre.textContent.replace(/\n$/, ""), language));
  }
  for (const table of fragment.querySelectorAll("table")) {
    // It is scrolled by keyboard too.
    const wide = document.createElement("div");
    wide.className = "wide";
    wide.tabIndex = 0;
    table.replaceWith(wide);
    wide.append(table);
  }
  return fragment.firstElementChild ?? document.createElement("p");
}
