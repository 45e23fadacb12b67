import { curlLines } from './curl-lines.ts'
import { demoLink } from './demo-link.ts'
import type { DemoPlatform } from './demo-platform.ts'

/** The first page of the product, as text. */
export async function welcome(
  { url, demo }: { readonly url: string; readonly demo: { readonly demo: DemoPlatform; readonly created: boolean } | null },
  startedInMs: number
): Promise<string> {
  const head = [`Trunkline is ready at ${url} (started in ${startedInMs} ms)`, '']
  if (demo === null) return [...head, `  reference       ${url}/docs`, ''].join('\n')
  const { demo: platform } = demo
  const link = await demoLink(platform)
  return [
    ...head,
    `  REST API        ${platform.base_url}        reference at ${url}/docs`,
    `  broker stream   ${platform.stream_url}`,
    `  market data     ${platform.market_data_stream_url}        live at ${url}/docs/live`,
    `  client-id       ${platform.client_id}`,
    `  client-secret   ${platform.client_secret}`,
    ...(platform.sandbox_control_url === null ? [] : [`  sandbox control ${platform.sandbox_control_url}`]),
    '',
    ...(platform.sandbox_logins.length === 0 ? [] : ['Logins at the sandbox broker']),
    ...platform.sandbox_logins.map(({ username, password }) => `  ${username.padEnd(15)} ${password}`),
    '',
    'Three lines to paste into a shell',
    ...curlLines(platform).flatMap(({ title, line }) => ['', `  # ${title}`, `  ${line}`]),
    '',
    ...(link === null ? [] : ['Connect a sandbox account in your browser (the link works once, for 30 minutes)', `  ${link}`, '']),
    'The whole story at once: npm run demo',
    ''
  ].join('\n')
}
