// A file has one reason to change: at 400 lines somebody has looked twice and written down why it stays.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesLike, textOf } from './repository.ts'

const LINES_MAX = 400
/** The formatter breaks code at this column, and leaves comments as they are. */
const COLUMNS_MAX = 140
const COMMENT = /^\s*(?:\/\/|\/?\*)/

/** Longer files, each with its reason. */
const REASONS: Readonly<Record<string, string>> = {
  'packages/client/dist/index.js': 'built: the sources of the client in one file',
  'packages/client/dist/streams.js': 'built: the streams of the client in one file',
  'packages/client/dist/types/generated/openapi.d.ts': 'built: the declarations of what is generated',
  'packages/console/src/generated/admin.ts': 'generated: one type for each record of the operators’ API',
  'packages/client/src/generated/openapi.ts': 'generated: one type for each record and each operation of the service'
}

test('no file is too long without a reason, and no reason is left over', () => {
  const long = filesLike(/^(packages|scripts|test|bench)\/.*\.(tsx?|mjs|js|sql|css|eta)$/)
    .map(file => ({ file, lines: textOf(file).split('\n').length - 1 }))
    .filter(({ lines }) => lines > LINES_MAX)
  assert.deepEqual(
    long.filter(({ file }) => !(file in REASONS)).map(({ file, lines }) => `${file}: ${lines} lines`),
    [],
    'split it, or give its reason in test/repo/sizes.test.ts'
  )
  assert.deepEqual(
    Object.keys(REASONS).filter(file => !long.some(other => other.file === file)),
    [],
    'no longer needed'
  )
})

test('no line of a comment is longer than code may be, unless it is a table or an address', () => {
  const long = filesLike(/^(packages|scripts|test|bench)\/.*\.(tsx?|mjs)$/).flatMap(file =>
    textOf(file)
      .split('\n')
      .flatMap((line, index) =>
        COMMENT.test(line) && [...line].length > COLUMNS_MAX && !/\||https?:/.test(line) ? [`${file}:${index + 1}`] : []
      )
  )
  assert.deepEqual(long, [], 'break the comment at 140 columns')
})
