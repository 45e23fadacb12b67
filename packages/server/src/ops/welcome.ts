import { dirname } from 'node:path'
import { curlLines } from './curl-lines.ts'
import { demoLink } from './demo-link.ts'
import type { DemoPlatform } from './demo-platform.ts'

interface Running {
  readonly url: string
  readonly brokers: readonly { readonly id: string; readonly environment: string }[]
  readonly demo: DemoPlatform | null
}

interface Reader {
  readonly startedInMs: number
  /** Whether the output is a terminal. Secrets are not written to a pipe or a file: its readers are unknown. */
  readonly isTerminal: boolean
  /** Where the credentials are. */
  readonly file: string
  /** The command that starts the same on another port. */
  readonly onPort9000?: string
  /** The command that runs the demo against it. */
  readonly runDemo?: string
}

/** The first page of the product, as text. */
export async function welcome(
  { url, brokers, demo }: Running,
  { startedInMs, isTerminal, file, onPort9000 = 'TRUNKLINE_PORT=9000 npm start', runDemo = 'npm run demo' }: Reader
): Promise<string> {
  const head = [`Trunkline is ready at ${url} (started in ${startedInMs} ms)`, '']
  const own = [`  another port    ${onPort9000}`, `  data            ${dirname(file)}`]
  if (demo === null) return [...head, `  reference       ${url}/docs`, ...own, ''].join('\n')
  const addresses = [
    `  REST API        ${demo.base_url}        reference at ${url}/docs`,
    `  broker stream   ${demo.stream_url}`,
    `  market data     ${demo.market_data_stream_url}        live at ${url}/docs/live`,
    `  brokers         ${brokers.map(({ id, environment }) => `${id} (${environment})`).join(', ')}`,
    ...own
  ]
  const practised = demo.sandbox_logins.length > 0
  const credentials = isTerminal ? await secrets(demo, practised) : [`  credentials     in ${file}, because this is no terminal`, '']
  return [...head, ...addresses, ...credentials, ...(practised ? [`The whole demo at once: ${runDemo}`, ''] : [])].join('\n')
}

async function secrets(platform: DemoPlatform, practised: boolean): Promise<readonly string[]> {
  const link = await demoLink(platform)
  return [
    `  client-id       ${platform.client_id}`,
    `  client-secret   ${platform.client_secret}`,
    ...(platform.sandbox_control_url === null ? [] : [`  sandbox control ${platform.sandbox_control_url}`]),
    ...(practised ? ['', 'Logins at every broker in the sandbox'] : []),
    ...platform.sandbox_logins.map(({ username, password }) => `  ${username.padEnd(15)} ${password}`),
    '',
    'All of this in your browser (the link works once)',
    `  ${platform.home_url}`,
    '',
    'Three lines to paste into a shell',
    ...curlLines(platform).flatMap(({ title, line }) => ['', `  # ${title}`, `  ${line}`]),
    '',
    ...(link === null
      ? []
      : [`Connect ${practised ? 'a sandbox' : 'an'} account in your browser (the link works once, for 30 minutes)`, `  ${link}`, ''])
  ]
}
