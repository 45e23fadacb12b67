// A request of the console as a program would make it: with an operator's key, since the session's cookie is no program's business.

/** A request of the operators' API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** From the root: `/admin/v1/…`, with its parts encoded. */
  readonly path: string
  /** Members that are undefined are not sent. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** The path and the query of a request. */
export function targetOf({ path, query = {} }: ApiRequest): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** For a POSIX shell. The key is taken from the environment, so it is neither in the history nor in what is passed around. */
export function asCurl(request: ApiRequest, origin: string): string {
  const { method, body } = request
  const lines = [
    `curl --fail-with-body ${method === 'GET' ? '' : `--request ${method} `}${quoted(`${origin}${targetOf(request)}`)}`,
    `--header "authorization: Bearer $TRUNKLINE_OPERATOR_KEY"`,
    ...(body === undefined ? [] : [`--header 'content-type: application/json'`, `--data ${quoted(JSON.stringify(body))}`])
  ]
  return lines.join(' \\\n  ')
}

/** For Node.js 20 and newer, as a module. */
export function asTypeScript(request: ApiRequest, origin: string): string {
  const { method, body } = request
  const headers = [
    `authorization: \`Bearer \${process.env.TRUNKLINE_OPERATOR_KEY}\``,
    ...(body === undefined ? [] : ["'content-type': 'application/json'"])
  ]
  return [
    `const response = await fetch(${JSON.stringify(`${origin}${targetOf(request)}`)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { ${headers.join(', ')} }${body === undefined ? '' : ','}`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)})`]),
    '})',
    `if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`)`,
    'const answer: unknown = await response.json()'
  ].join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
