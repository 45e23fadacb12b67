/** A text, or one with a title. @typedef {string | { readonly text: string, readonly title: string }} Cell */

/**
 * Makes the rows of a table section those of the items, in their order. A row stays the same element as long as its item is there, so that
 * nothing loses the focus.
 * @template T
 * @param {HTMLTableSectionElement} section
 * @param {readonly T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => readonly Cell[]} cellsOf its cells; the first one heads the row
 * @param {(row: HTMLTableRowElement, item: T) => void} [complete] sees each row after its texts were written
 */
export function putRows(section, items, keyOf, cellsOf, complete = () => {}) {
  const known = new Map([...section.rows].map(row => [row.dataset.key, row]))
  const wanted = items.map(item => {
    const key = keyOf(item)
    const row = known.get(key) ?? document.createElement('tr')
    row.dataset.key = key
    for (const [index, cell] of cellsOf(item).entries()) put(row, index, cell)
    complete(row, item)
    return row
  })
  const kept = new Set(wanted)
  for (const row of [...section.rows]) if (!kept.has(row)) row.remove()
  for (const [index, row] of wanted.entries()) {
    if (section.rows[index] !== row) section.insertBefore(row, section.rows[index] ?? null)
  }
}

/**
 * @param {HTMLTableRowElement} row
 * @param {number} index
 * @param {Cell} content
 */
function put(row, index, content) {
  const { text, title } = typeof content === 'string' ? { text: content, title: '' } : content
  let cell = row.cells[index]
  if (cell === undefined) {
    cell = document.createElement(index === 0 ? 'th' : 'td')
    if (index === 0) {
      cell.scope = 'row'
      cell.className = 'first'
    }
    row.append(cell)
  }
  if (cell.textContent !== text) cell.textContent = text
  if (cell.title !== title) cell.title = title
}
