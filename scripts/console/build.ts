// The console as the service serves it, in `packages/console/dist`.
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { build } from 'vite'
import { outFolder } from '../client/out.ts'

const USAGE = `node scripts/run.mjs scripts/console/build.ts [--out FOLDER]

Builds the console: a page, its scripts and styles with names that change with their contents, and the licences of what they contain.
  --out  a folder, which is emptied first; default packages/console/dist
`
const CONSOLE = resolve(import.meta.dirname, '..', '..', 'packages/console')
/** Where the built files are. */
export const DIST = resolve(CONSOLE, 'dist')

/**
 * What is loaded together: what the login needs, and then all pages of records. A file for each page and for each part that pages share
 * is 15 kB more in all, since text in many small files compresses badly. The sandbox, trading and charts are loaded when they are opened.
 */
const TOGETHER = [
  { name: 'index', tags: ['$initial' as const] },
  { name: 'pages', test: /[\\/]pages[\\/](?!sandbox|trade)/ }
]

/** Writes the files into an empty folder. The bytes depend on nothing but the sources and the locked tools. */
export async function buildConsole(folder: string): Promise<void> {
  await build({
    root: resolve(CONSOLE, 'src'),
    base: '/console/',
    configFile: false,
    envDir: false,
    mode: 'production',
    logLevel: 'warn',
    plugins: [react()],
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      // The content security policy permits files only: nothing is put into the page or into a `data:` address.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      cssCodeSplit: false,
      license: { fileName: 'licenses.md' },
      rolldownOptions: { output: { hashCharacters: 'hex', codeSplitting: { groups: TOGETHER } } }
    }
  })
}

if (process.argv[1] === import.meta.filename) {
  const folder = outFolder(USAGE, DIST)
  if (folder !== null) await buildConsole(folder)
}
