// What every page must be: it fits into its window, and axe finds nothing.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
export const WIDTHS = [320, 375, 1200] as const
export const SCHEMES = ['light', 'dark'] as const
/** What of axe a page can break in one colour scheme and keep in the other. */
export const RULES_OF_COLOR = ['color-contrast', 'link-in-text-block']

/** Nothing has to be scrolled sideways. */
export async function fits(page: Page, what: string): Promise<void> {
  const [wide, seen] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, document.documentElement.clientWidth]')
  assert.ok(wide <= seen, `${what}: ${wide} px wide, ${seen} px seen`)
}

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** All rules of axe, or those named. */
export async function passesAxe(page: Page, what: string, rules: readonly string[] | null = null): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.addScriptTag({ path: AXE })
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...(rules !== null && { runOnly: rules }) })}).then(found => found.violations)`
  )
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(node => `  ${node.html}\n  ${node.failureSummary}`).join('\n')}`
  )
  assert.deepEqual(found, [], what)
}
