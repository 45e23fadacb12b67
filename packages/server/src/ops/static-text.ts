import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const CACHE = 'public, max-age=300'
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }
/** Below this size, compression does not save a packet. */
const COMPRESSED_FROM = 1_024

interface Variant {
  readonly encoding: 'br' | 'gzip' | null
  readonly bytes: Buffer
  readonly etag: string
}

/**
 * Serves a static text: created and compressed once, at the first request, and not sent again to a client that has it. Only for such texts:
 * an answer with a secret must not be compressed beside attacker-chosen text. Clients keep it for five minutes, unless `headers` say
 * otherwise.
 */
export function serveText(
  app: FastifyInstance,
  path: string,
  make: () => string | Buffer,
  headers: () => Readonly<Record<string, string>>
): void {
  let made: readonly Variant[] | undefined
  app.get(path, (request, reply) => {
    made ??= variantsOf(Buffer.from(make()))
    reply.headers({ 'cache-control': CACHE, ...headers(), vary: 'accept-encoding' })
    send(request, reply, made)
  })
}

function variantsOf(bytes: Buffer): readonly Variant[] {
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  const plain: Variant = { encoding: null, bytes, etag: `"${digest}"` }
  if (bytes.length < COMPRESSED_FROM) return [plain]
  return [
    { encoding: 'br', bytes: brotliCompressSync(bytes, BROTLI), etag: `"${digest}-br"` },
    { encoding: 'gzip', bytes: gzipSync(bytes), etag: `"${digest}-gzip"` },
    plain
  ]
}

function send({ headers }: FastifyRequest, reply: FastifyReply, variants: readonly Variant[]): void {
  const taken = encodingsOf(headers['accept-encoding'] ?? '')
  const variant = variants.find(({ encoding }) => encoding === null || taken.has(encoding))
  if (variant === undefined) return
  const { encoding, bytes, etag } = variant
  reply.header('etag', etag)
  if (encoding !== null) reply.header('content-encoding', encoding)
  const known = headers['if-none-match']?.split(',').map(tag => tag.trim().replace(/^W\//, '')) ?? []
  if (known.includes(etag) || known.includes('*')) reply.code(304).send()
  else reply.send(bytes)
}

/** The encodings that a client accepts; one with weight 0 is not accepted. */
function encodingsOf(accepted: string): ReadonlySet<string> {
  const parts = accepted.toLowerCase().split(',')
  return new Set(
    parts.flatMap(part => {
      const [name = '', ...parameters] = part.split(';').map(text => text.trim())
      return parameters.some(parameter => /^q=0(?:\.0{1,3})?$/.test(parameter)) ? [] : [name]
    })
  )
}
