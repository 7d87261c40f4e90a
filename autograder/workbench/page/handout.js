// The handout: the server's HTML, with links that lead to places on this page.

function linkAdapt(link, openLab) {
  const target = link.getAttribute('href') || '';
  if (/^https?:/.test(target)) {
    link.rel = 'noreferrer';
    link.target = '_blank';
    return;
  }
  const lab = target.match(/(\d\d)-[a-z0-9-]+\/README\.md/);
  if (lab) {
    link.href = '#';
    link.addEventListener('click', (event) => {
      event.preventDefault();
      openLab(lab[1]);
    });
    return;
  }
  if (target.startsWith('#')) {
    link.href = `#handout-${target.slice(1)}`;
    return;
  }
  const words = document.createElement('span'); // a page outside the workbench: its path in words
  words.textContent = link.textContent;
  words.title = target.replace(/^(\.\.\/)+/, '');
  link.replaceWith(words);
}

// A handout is text: elements that load or send something are left out, and its names cannot be
// those of the page's own elements.
function clean(page) {
  for (const other of page.querySelectorAll('script, style, meta, link, base, iframe, object, embed, form'))
    other.remove();
  for (const named of page.querySelectorAll('[id], [name]')) {
    if (named.id) named.id = `handout-${named.id}`;
    named.removeAttribute('name');
  }
}

export function showHandout(parent, html, openLab) {
  const page = new DOMParser().parseFromString(html, 'text/html');
  clean(page);
  for (const image of page.querySelectorAll('img')) {
    const figure = (image.getAttribute('src') || '').match(/docs\/figures\/([\w.-]+\.(?:svg|png))$/);
    if (figure) image.setAttribute('src', `/figures/${figure[1]}`);
    else image.remove();
  }
  for (const link of page.querySelectorAll('a')) linkAdapt(link, openLab);
  for (const heading of page.querySelectorAll('h1')) {
    const lower = document.createElement('h2'); // the page has one h1
    lower.append(...heading.childNodes);
    heading.replaceWith(lower);
  }
  for (const wide of page.querySelectorAll('table, pre')) wide.tabIndex = 0; // scrolls with the keyboard
  parent.replaceChildren(...page.body.childNodes);
  parent.parentElement.scrollTop = 0;
}
