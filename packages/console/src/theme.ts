// Light, dark, or as the system has it. The choice is kept in this browser; without storage it lasts until the page is left.

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]
const KEY = 'trunkline-console-theme'

/** The kept choice. */
export function keptTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return THEMES.find(theme => theme === kept) ?? 'system'
  } catch {
    return 'system'
  }
}

/** Shows the page in a theme, and keeps the choice. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // Storage is refused in some private windows.
  }
}

/** Calls `changed` when the page may have other colours, by the choice or by the system, until the answer is called. */
export function onColours(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const choice = new MutationObserver(changed)
  system.addEventListener('change', changed)
  choice.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  return () => {
    system.removeEventListener('change', changed)
    choice.disconnect()
  }
}
