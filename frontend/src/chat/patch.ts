/**
 * Makes `old` look like `fresh` and keeps every node that may stay, so that a selection, the focus and what was
 * scrolled live on while a reply grows. `own` takes over elements that fill themselves; true = done.
 */
export function patch(old: Element, fresh: Element, own: (old: Element, fresh: Element) => boolean): void {
  if (own(old, fresh)) return;
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const wanted = [...fresh.childNodes];
  wanted.forEach((node, index) => {
    const here = old.childNodes[index];
    if (!here) old.append(node);
    else if (here instanceof Element && node instanceof Element && here.localName === node.localName) patch(here, node, own);
    else if (here instanceof Text && node instanceof Text) {
      // Appended to, not replaced: a selection in it stays.
      if (node.data.startsWith(here.data)) here.appendData(node.data.slice(here.data.length));
      else here.data = node.data;
    } else here.replaceWith(node);
  });
  while (old.childNodes.length > wanted.length) old.lastChild?.remove();
}
