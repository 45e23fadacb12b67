import { element } from './element.js'

const SHOWN_MAX = 12
const UNREAD = 'What is searched could not be read. It is read again at the next key.'

/** @typedef {{ readonly title: string, readonly href: string, readonly about: string, readonly words: string }} Entry */

/** A field in the header that finds operations, messages, fields, error codes and guides. `/` leads to it. */
export function addSearch() {
  const bar = document.querySelector('.bar')
  if (bar === null) return
  const field = element('input', {
    ...{ type: 'search', placeholder: 'Search', 'aria-label': 'Search the documentation', autocomplete: 'off', spellcheck: 'false' },
    ...{ role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found', 'aria-autocomplete': 'list', 'aria-keyshortcuts': '/' }
  })
  const list = element('ul', { id: 'found', role: 'listbox', 'aria-label': 'Found' })
  list.hidden = true
  bar.append(element('search', {}, field, list))
  new Search(field, list)
}

class Search {
  /**
   * @param {HTMLInputElement} field
   * @param {HTMLUListElement} list
   */
  constructor(field, list) {
    this.field = field
    this.list = list
    this.at = -1
    /** @type {Promise<readonly Entry[] | null> | null} */
    this.entries = null
    field.addEventListener('focus', () => void this.load())
    field.addEventListener('input', () => void this.find())
    field.addEventListener('keydown', event => this.press(event))
    field.addEventListener('blur', event => {
      if (!list.contains(/** @type {Node | null} */ (event.relatedTarget))) this.close()
    })
    document.addEventListener('keydown', event => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      event.preventDefault()
      field.focus()
      field.select()
    })
  }

  /** @returns {Promise<readonly Entry[] | null>} null if they could not be read */
  load() {
    this.entries ??= fetch('/docs/search.json')
      .then(answer => {
        // A refusal is JSON too.
        if (!answer.ok) throw new Error(`expected the entries of the search, got the status ${answer.status}`)
        return answer.json()
      })
      .catch(() => {
        // Asked for again at the next key.
        this.entries = null
        return null
      })
    return this.entries
  }

  async find() {
    const text = this.field.value
    const entries = await this.load()
    if (text !== this.field.value) return
    const words = termsOf(text)
    const found = entries === null || words.length === 0 ? [] : ranked(entries, words).slice(0, SHOWN_MAX)
    this.at = -1
    this.list.replaceChildren(...found.map((entry, index) => option(entry, index)))
    if (words.length > 0 && found.length === 0)
      this.list.append(
        element('li', { role: 'option', 'aria-disabled': 'true', class: 'nothing' }, entries === null ? UNREAD : 'Nothing found')
      )
    this.list.hidden = words.length === 0
    this.field.setAttribute('aria-expanded', String(words.length > 0))
    this.mark()
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const links = [...this.list.querySelectorAll('a')]
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && links.length > 0) {
      event.preventDefault()
      this.at = (this.at + step + links.length) % links.length
      this.mark()
    } else if (event.key === 'Enter') {
      event.preventDefault()
      links[Math.max(0, this.at)]?.click()
      this.close()
    } else if (event.key === 'Escape') this.close()
  }

  mark() {
    const options = [...this.list.querySelectorAll('li')]
    for (const [index, each] of options.entries()) each.setAttribute('aria-selected', String(index === this.at))
    const marked = options[this.at]
    if (marked === undefined) this.field.removeAttribute('aria-activedescendant')
    else {
      this.field.setAttribute('aria-activedescendant', marked.id)
      marked.scrollIntoView({ block: 'nearest' })
    }
  }

  close() {
    this.list.hidden = true
    this.at = -1
    this.field.setAttribute('aria-expanded', 'false')
    this.field.removeAttribute('aria-activedescendant')
  }
}

/**
 * @param {Entry} entry
 * @param {number} index
 */
function option({ title, href, about }, index) {
  const link = element('a', { href, tabindex: '-1' }, element('strong', {}, title), ' ', element('small', {}, about))
  return element('li', { role: 'option', id: `found-${index}` }, link)
}

/** @param {string} text */
function termsOf(text) {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word !== '')
    .slice(0, 8)
}

/**
 * Those that have all the words, first those with them in their titles.
 * @param {readonly Entry[]} entries
 * @param {readonly string[]} words
 */
function ranked(entries, words) {
  const rank = (/** @type {Entry} */ { title, about, words: others }) => {
    const name = title.toLowerCase()
    if (name === words.join(' ')) return 0
    if (words.every(word => name.includes(word))) return name.startsWith(words[0] ?? '') ? 1 : 2
    const text = `${name} ${about.toLowerCase()} ${others}`
    return words.every(word => text.includes(word)) ? 3 : 4
  }
  return entries
    .map(entry => ({ entry, at: rank(entry) }))
    .filter(({ at }) => at < 4)
    .sort((a, b) => a.at - b.at)
    .map(({ entry }) => entry)
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}
