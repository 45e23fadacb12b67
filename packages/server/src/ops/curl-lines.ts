import type { DemoPlatform } from './demo-platform.ts'

export interface CurlLine {
  readonly title: string
  /** On one line, for copying from a terminal. */
  readonly line: string
  /** The same over several lines, for a page. */
  readonly block: string
}

/**
 * Three commands that work in any POSIX shell, in this order and repeatedly: the list of brokers, a new user, and a link to connect that
 * user's broker.
 */
export function curlLines(demo: DemoPlatform): readonly CurlLine[] {
  const { base_url: url, client_id: id, client_secret: secret } = demo
  const platform = [`-H 'client-id: ${id}'`, `-H 'client-secret: ${secret}'`]
  const json = "-H 'content-type: application/json'"
  const user = ['-H "user-id: $USER_ID"', '-H "user-secret: $USER_SECRET"']
  const newUser = ['USER_SECRET=$(curl -sS', ...platform, json, `-d '{"user_id":"'$USER_ID'"}'`, `${url}/users`]
  const secretOf = `| sed 's/.*"user-secret":"\\([^"]*\\)".*/\\1/')`
  return [
    shown('See which brokers there are', [["curl -sS -w '\\n'", ...platform, `${url}/brokers`]]),
    shown('Create a user and keep its secret', [
      ['USER_ID=ada-$(date +%s)-$$'],
      [...newUser, secretOf],
      ['echo "user $USER_ID was created"']
    ]),
    shown('Get a link on which that user connects a broker', [
      ["curl -sS -w '\\n'", ...platform, ...user, json, `-d '{"connection_type":"trade"}'`, `${url}/connections`]
    ])
  ]
}

function shown(title: string, commands: readonly (readonly string[])[]): CurlLine {
  return {
    title,
    line: commands.map(parts => parts.join(' ')).join('; '),
    block: commands.map(parts => parts.join(' \\\n  ')).join('\n')
  }
}
