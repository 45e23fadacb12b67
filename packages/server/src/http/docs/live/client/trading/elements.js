/**
 * The element with this id.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function byId(id, kind) {
  const element = document.getElementById(id)
  if (element instanceof kind) return element
  throw new Error(`the page has no ${kind.name} #${id}`)
}

/**
 * The rows of a table section.
 * @param {string} id
 * @returns {readonly HTMLTableRowElement[]}
 */
export function rowsOf(id) {
  return [...byId(id, HTMLTableSectionElement).rows]
}

/**
 * A new element with this text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [text]
 * @param {string} [className]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function made(tag, text = '', className = '') {
  const element = document.createElement(tag)
  element.textContent = text
  element.className = className
  return element
}

/**
 * Returns a function that schedules `draw` for the next frame. Further calls before that frame have no effect.
 * @param {() => void} draw
 */
export function onFrame(draw) {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      draw()
    })
  }
}
