import type { Table } from '../config/setting.ts'

/** What `npm start -- --help` prints. */
export function startUsage(settings: Table): string {
  const rows = Object.values(settings).map(({ env, fallback }) => `  ${env.padEnd(34)} ${fallback}`.trimEnd())
  return `npm start    the service, its database and the sandbox brokerage, until Ctrl-C

It takes no arguments. Settings come from the environment: TRUNKLINE_PORT=9000 npm start
Each is described in docs/settings.md; npm run cli -- check-config checks all of them.

Settings and their defaults
${rows.join('\n')}
`
}

/** The message about arguments, which are not accepted. */
export function noArguments(args: readonly string[]): string {
  const [, name, value] = /^--([\w-]+)[= ](\S+)/.exec(args.join(' ')) ?? []
  const meant = name === undefined ? 'TRUNKLINE_PORT=9000' : `TRUNKLINE_${name.toUpperCase().replaceAll('-', '_')}=${value}`
  return `npm start takes no arguments, and was given ${args.join(' ')}. Settings come from the environment, for example: ${meant} npm start\nSee npm start -- --help\n`
}
