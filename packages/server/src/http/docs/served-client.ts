// Serves the TypeScript client, so that `npm install <this service>/client.tgz` works without a registry.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { serveText } from '../../ops/static-text.ts'

/** Built by `npm run client`, and compared with its sources by a test of the repository. */
export const DIST = fileURLToPath(new URL('../../../../client/dist/', import.meta.url))
/** What every page may load. */
const ANYWHERE = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }
const MODULES = [
  ['/client/trunkline.js', 'trunkline.min.js', {}],
  ['/client/streams.js', 'streams.min.js', {}],
  // For pages of the platforms, which are of other origins. It is the same for everybody.
  ['/client/connect.js', 'connect.min.js', ANYWHERE]
] as const
const BLOCK = 512
const NAME_BYTES_MAX = 100

export function serveClient(app: FastifyInstance): void {
  const [, version = ''] = /"version": "([^"]+)"/.exec(readFileSync(join(DIST, 'package.json'), 'utf8')) ?? []
  for (const path of ['/client.tgz', `/client/trunkline-client-${version}.tgz`]) {
    serveText(app, path, packed, () => ({ 'content-type': 'application/gzip' }))
  }
  for (const [path, file, headers] of MODULES) {
    serveText(
      app,
      path,
      () => readFileSync(join(DIST, file)),
      () => ({ 'content-type': 'text/javascript; charset=utf-8', ...headers })
    )
  }
}

/** The files as npm packs them: below `package`, in a gzipped tar archive. */
function packed(): Buffer {
  const names = readdirSync(DIST, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(DIST.length))
    .sort()
  const parts = names.flatMap(name => {
    const bytes = readFileSync(join(DIST, name))
    return [header(`package/${name}`, bytes.length), bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))]
  })
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]), { level: 9 })
}

/** A header of the ustar format, for a plain file that everybody may read. */
function header(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw new Error(`the name is too long for the archive: ${name}`)
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, digits: number) => block.write(`${value.toString(8).padStart(digits, '0')}\0`, at)
  block.write(name, 0)
  octal(0o644, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(size, 124, 11)
  octal(0, 136, 11)
  block.write('        ', 148)
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
