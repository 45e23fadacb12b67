import { element } from './element.js'

const REMEMBERED = 'trunkline-docs-language'

/** @typedef {{ readonly language: string, readonly tab: HTMLElement, readonly panel: HTMLElement }} Tab */

/** Makes tabs of the calls of each operation. A choice is for all of them, and is remembered by this browser. */
export function addTabs() {
  const all = [...document.querySelectorAll('.calls')].map((calls, index) => tabsOf(calls, index))
  /** @param {string} language */
  const choose = language => {
    for (const tabs of all) show(tabs, language)
  }
  for (const tabs of all) for (const each of tabs) listen(each, tabs, choose)
  choose(remembered())
}

/**
 * @param {Element} calls
 * @param {number} index
 * @returns {readonly Tab[]}
 */
function tabsOf(calls, index) {
  const list = element('div', { role: 'tablist', 'aria-label': 'Language' })
  const tabs = [...calls.querySelectorAll('pre')].map(code => {
    const language = code.dataset.language ?? ''
    const id = `call-${index}-${language.toLowerCase()}`
    const tab = element('button', { type: 'button', role: 'tab', id: `${id}-tab`, 'aria-controls': id }, language)
    const panel = element('div', { role: 'tabpanel', id, 'aria-labelledby': `${id}-tab` }, code)
    list.append(tab)
    return { language, tab, panel }
  })
  calls.replaceChildren(list, ...tabs.map(({ panel }) => panel))
  return tabs
}

/**
 * Where none has this language, the first.
 * @param {readonly Tab[]} tabs
 * @param {string} language
 */
function show(tabs, language) {
  const shown = tabs.find(tab => tab.language === language) ?? tabs[0]
  for (const each of tabs) {
    each.tab.setAttribute('aria-selected', String(each === shown))
    each.tab.tabIndex = each === shown ? 0 : -1
    each.panel.hidden = each !== shown
  }
}

/**
 * @param {Tab} tab
 * @param {readonly Tab[]} tabs
 * @param {(language: string) => void} choose
 */
function listen({ tab, language }, tabs, choose) {
  /** @param {Tab | undefined} other */
  const take = other => {
    if (other === undefined) return
    const top = other.tab.getBoundingClientRect().top
    choose(other.language)
    remember(other.language)
    other.tab.focus({ preventScroll: true })
    // Calls above may be longer or shorter now: what was pressed stays where it was.
    window.scrollBy(0, other.tab.getBoundingClientRect().top - top)
  }
  tab.addEventListener('click', () => take(tabs.find(other => other.language === language)))
  tab.addEventListener('keydown', event => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = tabs.findIndex(other => other.language === language)
    take(tabs[(at + step + tabs.length) % tabs.length])
  })
}

function remembered() {
  try {
    return localStorage.getItem(REMEMBERED) ?? 'curl'
  } catch {
    return 'curl'
  }
}

/** @param {string} language */
function remember(language) {
  try {
    localStorage.setItem(REMEMBERED, language)
  } catch {
    // A browser that stores nothing shows the first language the next time.
  }
}
