import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdFolder } from '../../cluster/one-run.ts'
import { folderFor } from './stage.ts'

test('a second cluster in the folder of one that runs is refused, and the message names that one', t => {
  const folder = folderFor(t)
  const lock = holdFolder(folder, 8080)
  assert.throws(
    () => holdFolder(folder, 9000),
    new RegExp(`^Error: a cluster runs in ${folder} already \\(process ${process.pid}, at http://127\\.0\\.0\\.1:8080\\)\\. Use that one`)
  )
  lock.close()
  holdFolder(folder, 9000).close()
})
