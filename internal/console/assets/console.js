// What pages have besides what the server wrote: sorted tables, copied commands, and what lives.
'use strict';

for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') !== 'descending';
      const number = head.classList.contains('n');
      const value = (row) => {
        const cell = row.cells[column];
        const text = cell.dataset.sort ?? cell.textContent.trim();
        return number ? Number(text) : text;
      };
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const x = value(a), y = value(b);
        const order = number ? x - y : String(x).localeCompare(String(y));
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
      heads.forEach((h) => h.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    });
  });
}

const copies = (root) => {
  for (const button of root.querySelectorAll('button.copy')) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
  }
};
copies(document);

const followed = document.querySelector('[data-follow]');
const live = document.getElementById('live');
if (followed && live) {
  const stream = new EventSource(followed.dataset.follow);
  stream.onmessage = (event) => {
    const open = [...live.querySelectorAll('details[open]')].map((d) => d.id);
    const focus = live.contains(document.activeElement) ? document.activeElement.id : '';
    live.innerHTML = event.data; // written and escaped by the server's own templates
    for (const id of open) {
      const details = id && document.getElementById(id);
      if (details) details.open = true;
    }
    if (focus) document.getElementById(focus)?.focus();
    copies(live);
  };
  addEventListener('pagehide', () => stream.close());
}
