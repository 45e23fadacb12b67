import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { curlLines } from './curl-lines.ts'
import { demoLink } from './demo-link.ts'
import type { DemoPlatform } from './demo-platform.ts'

interface Running {
  readonly url: string
  readonly brokers: readonly Pick<BrokerDefinition, 'capabilities' | 'environment'>[]
  readonly demo: { readonly demo: DemoPlatform; readonly created: boolean } | null
}

/** The first page of the product, as text. */
export async function welcome({ url, brokers, demo }: Running, startedInMs: number): Promise<string> {
  const head = [`Trunkline is ready at ${url} (started in ${startedInMs} ms)`, '']
  if (demo === null) return [...head, `  reference       ${url}/docs`, ''].join('\n')
  const { demo: platform } = demo
  const link = await demoLink(platform)
  const practised = platform.sandbox_logins.length > 0
  return [
    ...head,
    `  REST API        ${platform.base_url}        reference at ${url}/docs`,
    `  broker stream   ${platform.stream_url}`,
    `  market data     ${platform.market_data_stream_url}        live at ${url}/docs/live`,
    `  brokers         ${brokers.map(({ capabilities: { id }, environment }) => `${id} (${environment})`).join(', ')}`,
    `  client-id       ${platform.client_id}`,
    `  client-secret   ${platform.client_secret}`,
    ...(platform.sandbox_control_url === null ? [] : [`  sandbox control ${platform.sandbox_control_url}`]),
    ...(practised ? ['', 'Logins at every broker in the sandbox'] : []),
    ...platform.sandbox_logins.map(({ username, password }) => `  ${username.padEnd(15)} ${password}`),
    '',
    'Three lines to paste into a shell',
    ...curlLines(platform).flatMap(({ title, line }) => ['', `  # ${title}`, `  ${line}`]),
    '',
    ...(link === null
      ? []
      : [`Connect ${practised ? 'a sandbox' : 'an'} account in your browser (the link works once, for 30 minutes)`, `  ${link}`, '']),
    ...(practised ? ['The whole story at once: npm run demo', ''] : [])
  ].join('\n')
}
