// Which test files may run in one process with others. It follows from their texts, so there is no list to maintain.
import type { Import, SourceFiles } from './imports.ts'

/** Programs, threads and module hooks outlive a test or concern the whole process. */
const FOREIGN = /^(node:)?(child_process|worker_threads|cluster|module|inspector|v8|vm)$|^playwright-core$|^pg$/
/** Each changes or observes what all files of a process have in common. Reading a variable of the environment does not. */
const GLOBAL = [
  /\bprocess\.(?!env\b|platform\b|arch\b|version|hrtime\b)/,
  /\bprocess\.env(\.\w+|\[[^\]]+\])?\s*(\?\?|\|\||&&)?=(?!=)/,
  /\b(delete|assign\()\s*process\.env/,
  /\bmock\b/,
  /\bglobalThis\b|\bglobal\.|\bsetGlobal|\bsetDefault/,
  /\bconsole\./,
  /configureGlobal/,
  /\b\w+\.prototype\.\w+\s*=(?!=)/
]
/** The embedded database runs in a thread, which a process may have only few of. */
const HEAVY = /^packages\/(durable-pglite|server)\/src\/(worker|engine|store\/index)\.ts$/
/** It would run around the tests of other files. `before` and `after` of a file run once, beside those of others. */
const HOOK = /^import \{[^}]*\b(beforeEach|afterEach|run)\b[^}]*\} from 'node:test'/m
const SEARCH = 'packages/testkit/src/search.ts'
/** A test of time, or one that `search.ts` declares. */
const UNFIT = /\bperformance\b|\beveryNthTest\b/

/**
 * A file shares if neither it nor a helper of it starts a program or a thread, changes or observes the process, or sets a hook for each
 * test; and if its tests are in its own text, because only then is each test's file known.
 */
export function mayShare(sources: SourceFiles, path: string): boolean {
  for (const [file, { text, imports }] of sources.reachable(path)) {
    if (HEAVY.test(file)) return false
    if (isSource(file)) continue
    if (file === path && UNFIT.test(text)) return false
    if (GLOBAL.some(pattern => pattern.test(text)) || HOOK.test(text)) return false
    if (imports.some(isForeign)) return false
    if (file !== path && file !== SEARCH && imports.some(({ specifier, isValue }) => isValue && specifier === 'node:test')) return false
  }
  return true
}

function isForeign({ specifier, isValue }: Import): boolean {
  return isValue && FOREIGN.test(specifier)
}

function isSource(file: string): boolean {
  return /^packages\/(?!testkit\/)[^/]+\/src\//.test(file)
}
