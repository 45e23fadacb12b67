import type { Table } from '../../config/setting.ts'
import { code, GENERATED, table } from './markdown.ts'

/** One setting of the sandbox brokerage. */
export interface SandboxRow {
  readonly env: string
  readonly fallback: string
  readonly about: string
}

const INTRODUCTION = `# Settings

Everything is set by environment variables, read once at the start. A variable that is empty counts as absent. Check them all, and what they
rely on, with \`npm run cli -- check-config\`: it names every fault at once, and so does the service when it refuses to start.

A setting marked *secret* is never printed and never logged; a fault in it is described without what was found.
`

const SANDBOX = `## The sandbox brokerage

Of the sandbox that the service starts beside itself, and of \`npm run sandbox\`. What is marked *by the service* has an effect with the second only.
`

/** The page of all settings, by group, in the order of the table; the sandbox's stand at the end, those of them marked that the service sets itself. */
export function settingsPage(settings: Table, sandbox: readonly SandboxRow[], setByService: readonly string[]): string {
  const groups = Map.groupBy(Object.values(settings), ({ group }) => group)
  const sections = [...groups].map(([group, rows]) => {
    const cells = rows.map(({ env, fallback, about, secret }) => [
      code(env),
      fallback === '' ? '' : code(fallback),
      secret ? `*Secret.* ${about}` : about
    ])
    return `## ${group}\n\n${table(['Name', 'Default', 'What it does'], cells)}`
  })
  const ofSandbox = sandbox.map(({ env, fallback, about }) => [
    code(env),
    fallback === '' ? '' : code(fallback),
    `${setByService.includes(env) ? '*By the service.* ' : ''}${about.charAt(0).toUpperCase()}${about.slice(1)}.`
  ])
  return [GENERATED, INTRODUCTION, ...sections, `${SANDBOX}\n${table(['Name', 'Default', 'What it does'], ofSandbox)}`].join('\n')
}
