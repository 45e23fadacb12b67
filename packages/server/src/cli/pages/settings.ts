import type { Table } from '../../config/setting.ts'
import { code, GENERATED, table } from './markdown.ts'

/** One setting of the sandbox brokerage. */
export interface SandboxRow {
  readonly env: string
  readonly fallback: string
  readonly about: string
}

const INTRODUCTION = `# Settings

The service is configured by environment variables, which it reads once at the start.
An empty variable counts as absent.
\`npm run cli -- check-config\` checks all settings, and what they depend on, and reports every error at once.
The service does the same before it refuses to start.

A setting marked *secret* is never printed or logged; an error in it is reported without its value.
`

const SANDBOX = `## The sandbox brokerage

These settings apply to the sandbox that the service starts beside itself, and to \`npm run sandbox\`.
The service itself sets those marked *by the service*: your value has an effect with \`npm run sandbox\` only.
`

/**
 * The page of all settings, by group in the order of the table. The sandbox's settings come last; those that the service sets itself are
 * marked.
 */
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
