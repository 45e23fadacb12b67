import type { Table } from '../../config/setting.ts'
import { code, GENERATED, table } from './markdown.ts'

const INTRODUCTION = `# Settings

Everything is set by environment variables, read once at the start. A variable that is empty counts as absent. Check them all, and what they
rely on, with \`npm run cli -- check-config\`: it tells every fault at once, and so does the service when it refuses to start.

A setting marked *secret* is never printed and never logged; a fault in it is described without what was found.
`

/** The page of all settings, by group, in the order of the table. */
export function settingsPage(settings: Table): string {
  const groups = Map.groupBy(Object.values(settings), ({ group }) => group)
  const sections = [...groups].map(([group, rows]) => {
    const cells = rows.map(({ env, fallback, about, secret }) => [
      code(env),
      fallback === '' ? '' : code(fallback),
      secret ? `*Secret.* ${about}` : about
    ])
    return `## ${group}\n\n${table(['Name', 'Default', 'What it does'], cells)}`
  })
  return `${[GENERATED, INTRODUCTION, ...sections].join('\n')}`
}
