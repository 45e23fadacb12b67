// How the client is bundled: for its package, and to measure it.
import { resolve } from 'node:path'
import { build } from 'esbuild'

const ROOT = resolve(import.meta.dirname, '..', '..')
export const CLIENT = resolve(ROOT, 'packages/client')
/** What Node 20 and the browsers of these years run. */
export const TARGET = 'es2022'

/** What programs have themselves. */
export const EXTERNAL = ['react']

type Module = 'index' | 'streams/index' | 'webhooks/index' | 'connect/index' | 'react/index'

/** A program that imports these from a module of the client, and more from others, minified as one file. */
export async function minified(imports: string, module: Module = 'index', more: Partial<Record<Module, string>> = {}): Promise<string> {
  const all = [[module, imports], ...Object.entries(more)]
  const contents = all.map(([from, names]) => `export ${names} from './src/${from}.ts'`).join('\n')
  const { outputFiles } = await build({
    ...{ stdin: { contents, resolveDir: CLIENT, loader: 'ts' }, bundle: true, external: EXTERNAL, write: false, minify: true },
    ...{ format: 'esm', target: TARGET, charset: 'utf8', legalComments: 'none', logLevel: 'silent' }
  })
  return outputFiles[0]?.text ?? ''
}
