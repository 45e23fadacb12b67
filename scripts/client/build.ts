// `npm run client`: the client as it is published, in `packages/client/dist`.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { CLIENT, EXTERNAL, minified, TARGET } from './bundle.ts'
import { outFolder } from './out.ts'

const USAGE = `npm run client -- [--out FOLDER]

Builds the client as it is published: bundles, declarations, README and licence.
  --out  a folder, which is emptied first; default packages/client/dist
`

const ROOT = resolve(CLIENT, '..', '..')
const DIST = join(CLIENT, 'dist')
/** What `/client/streams.js` has. */
const STREAMS = ['BrokerStream', 'LiveCopy', 'MarketStream', 'StreamError', 'eventsOf', 'recordsOf'] as const
/** The modules that programs import, by the names of their files. */
const ENTRIES: Readonly<Record<string, string>> = {
  index: join(CLIENT, 'src/index.ts'),
  streams: join(CLIENT, 'src/streams/index.ts'),
  webhooks: join(CLIENT, 'src/webhooks/index.ts'),
  connect: join(CLIENT, 'src/connect/index.ts'),
  react: join(CLIENT, 'src/react/index.ts')
}

/** Writes the package into an empty folder. The bytes depend on nothing but the sources and the locked tools. */
export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { outputFiles } = await build({
    ...{ entryPoints: ENTRIES, external: EXTERNAL, outdir: DIST, absWorkingDir: CLIENT, write: false },
    ...{ bundle: true, sourcemap: true, format: 'esm', target: TARGET, charset: 'utf8', logLevel: 'silent' }
  })
  for (const { path, contents } of outputFiles) writeFileSync(join(folder, basename(path)), contents)
  writeFileSync(join(folder, 'trunkline.min.js'), await minified('{ Trunkline, TrunklineError }'))
  writeFileSync(join(folder, 'streams.min.js'), await minified(`{ ${STREAMS.join(', ')} }`, 'streams/index'))
  writeFileSync(join(folder, 'connect.min.js'), await minified('{ createConnect, ConnectError }', 'connect/index'))
  declare(join(folder, 'types'))
  for (const [name, path] of Object.entries(ENTRIES)) await declareForRequire(name, join(folder, 'types', declarationOf(path)))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  copyFileSync(join(CLIENT, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

/** The declarations, whose imports name files that are published. */
function declare(folder: string): void {
  const { status, stdout } = spawnSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    ['-p', CLIENT, '--outDir', folder, '--composite', 'false', '--incremental', 'false'],
    { encoding: 'utf8' }
  )
  if (status !== 0) throw new Error(`the declarations could not be made:\n${stdout}`)
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.d.ts'))) {
    const path = join(folder, entry)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(from |import\()(["'][^"']+)\.ts(["'])/g, '$1$2.js$3'))
  }
}

/** Where the declarations of a source are, below `types`. */
function declarationOf(source: string): string {
  return relative(join(CLIENT, 'src'), source).replace(/\.ts$/, '.d.ts')
}

/**
 * The declarations for CommonJS, beside those for modules: the same types, and the values that the module exports. Without them the
 * compiler refuses to `require` the client (TS1479), although Node can.
 */
async function declareForRequire(name: string, declarations: string): Promise<void> {
  const values = await exportsOf(name)
  const lines = values.flatMap(({ name: value, isClass }) => [
    `export declare const ${value}: typeof client.${value}\n`,
    ...(isClass ? [`export type ${value} = client.${value}\n`] : [])
  ])
  const source = `'./${basename(declarations).replace(/\.d\.ts$/, '.js')}' with { 'resolution-mode': 'import' }\n`
  writeFileSync(
    declarations.replace(/\.d\.ts$/, '.d.cts'),
    `import type * as client from ${source}export type * from ${source}${lines.join('')}`
  )
}

/** The values that a module exports, by its source. */
async function exportsOf(name: string): Promise<readonly { readonly name: string; readonly isClass: boolean }[]> {
  const found: Readonly<Record<string, unknown>> = await import(pathToFileURL(ENTRIES[name] ?? '').href)
  return Object.entries(found).map(([value, what]) => ({ name: value, isClass: /^class\b/.test(String(what)) }))
}

/** Of the published package: its own one names the sources. */
function manifest(): object {
  const subpaths = Object.keys(ENTRIES).filter(name => name !== 'index')
  const { private: _private, exports: _exports, ...own } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'))
  return {
    ...own,
    description: 'Client of Trunkline: one API over many brokers',
    // Only here: with it in the workspace, an image for production would get React.
    peerDependencies: { react: '>=18' },
    peerDependenciesMeta: { react: { optional: true } },
    // For compilers that do not read `exports`: those of CommonJS projects with the older resolution of modules.
    main: './index.js',
    types: './types/index.d.ts',
    typesVersions: { '*': Object.fromEntries(subpaths.map(name => [name, [`./types/${declarationOf(ENTRIES[name] ?? '')}`]])) },
    exports: {
      ...Object.fromEntries(Object.keys(ENTRIES).map(name => [name === 'index' ? '.' : `./${name}`, exportOf(name)])),
      './package.json': './package.json'
    }
  }
}

function exportOf(name: string): object {
  const types = `./types/${declarationOf(ENTRIES[name] ?? '')}`
  return { require: { types: types.replace(/\.d\.ts$/, '.d.cts'), default: `./${name}.js` }, types, default: `./${name}.js` }
}

if (process.argv[1] === import.meta.filename) {
  const folder = outFolder(USAGE, DIST)
  if (folder !== null) await buildClient(folder)
}
