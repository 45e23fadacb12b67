// The documentation for language models, as https://llmstxt.org proposes: a list of what there is, and all guides in one text.
import { ERROR_CODES } from '@trunkline/core/domain/errors'
import type { Endpoint } from '../endpoint.ts'
import { MEANINGS } from './errors/meanings.ts'
import { guideNames, leadOf, markdownOf, titleOf } from './guides/index.ts'
import { curl } from './reference/samples.ts'
import { TYPESCRIPT, TYPESCRIPT_START } from './reference/typescript-examples.ts'

const LEAD = `> One API over many brokers: users link their brokerage accounts, and the platform places orders, follows accounts and reads
> market data through one REST API and two WebSockets.

Place an order once: choose a \`cl_order_id\`, store it, and never send another one for the same order. After a lost answer send the same order
again on the same trading day (the date in New York), or look it up by its \`cl_order_id\`; on a later day only look it up.
\`pending\` is not \`rejected\`: an order whose outcome is unknown stays \`pending\` until the service knows.
Money and quantities are strings in decimal notation. \`null\` means unknown, not zero.`

/** What there is, with addresses of the service at `publicUrl`. */
export function llmsText(endpoints: readonly Endpoint[], publicUrl: string): string {
  const guides = guideNames().map(name => `- [${titleOf(name)}](${publicUrl}/docs/guides/${name}.md): ${leadOf(name)}`)
  const operations = endpoints.map(({ method, path, summary }) => `- \`${method} ${path.replace(/:(\w+)/g, '{$1}')}\`: ${summary}`)
  return `# Trunkline

${LEAD}

## Guides
${guides.join('\n')}

## Reference
- [OpenAPI](${publicUrl}/openapi.json): every operation, with examples
- [AsyncAPI](${publicUrl}/asyncapi.json): both streams, with examples
- [All guides and operations in one text](${publicUrl}/llms-full.txt)
- [Error codes](${publicUrl}/docs/errors): what each means and what to do

## Operations
${operations.join('\n')}
`
}

/** Guides, calls of all operations and error codes. */
export function llmsFullText(endpoints: readonly Endpoint[], publicUrl: string): string {
  const calls = endpoints.map(endpoint => {
    const { operationId, summary, method, path, description } = endpoint
    return [
      `### ${summary}`,
      `\`${method} ${path.replace(/:(\w+)/g, '{$1}')}\`${description === undefined ? '' : `\n\n${description}`}`,
      `\`\`\`sh\n${curl(endpoint, publicUrl)}\n\`\`\``,
      `\`\`\`ts\n${TYPESCRIPT[operationId] ?? ''}\n\`\`\``
    ].join('\n\n')
  })
  const codes = ERROR_CODES.map(code => `- \`${code}\`: ${MEANINGS[code].meaning} ${MEANINGS[code].remedy}`)
  return [
    '# Trunkline',
    LEAD,
    ...guideNames().map(name => markdownOf(name, guideNames(), publicUrl)),
    '# Operations',
    `\`\`\`ts\n${TYPESCRIPT_START}\n\`\`\``,
    ...calls,
    '# Error codes',
    codes.join('\n'),
    ''
  ].join('\n\n')
}
