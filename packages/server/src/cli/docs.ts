import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { SANDBOX_ROWS, SET_BY_SERVICE } from '../config/sandbox-settings.ts'
import { ALL_SETTINGS } from '../config/settings.ts'
import { type Console, counted } from './console.ts'
import { brokerRows, knownBrokers } from './known-brokers.ts'
import { brokerPages } from './pages/brokers.ts'
import { GENERATED } from './pages/markdown.ts'
import { settingsPage } from './pages/settings.ts'

/** Writes the pages that are generated from the code, and removes the pages of brokers that no longer exist. */
export async function writeDocs(console: Console, { out }: { readonly out: string }): Promise<void> {
  const folder = resolve(out)
  const settings = settingsPage(ALL_SETTINGS, SANDBOX_ROWS, SET_BY_SERVICE)
  const pages = new Map([['settings.md', settings], ...brokerPages(knownBrokers(), brokerRows())])
  for (const stale of generatedIn(folder).filter(page => !pages.has(page))) rmSync(join(folder, stale))
  for (const [page, text] of pages) {
    mkdirSync(dirname(join(folder, page)), { recursive: true })
    writeFileSync(join(folder, page), text)
  }
  console.out(`Wrote ${counted(pages.size, 'page')} to ${out}.\n`)
}

function generatedIn(folder: string): readonly string[] {
  if (!existsSync(join(folder, 'brokers'))) return []
  return readdirSync(join(folder, 'brokers'))
    .filter(name => name.endsWith('.md') && readFileSync(join(folder, 'brokers', name), 'utf8').startsWith(GENERATED))
    .map(name => `brokers/${name}`)
}
