/** Finds fields in the bytes of an update without parsing it as JSON: `{"type":"…","seq":…,"event_id":"…","user_id":"…","data":…}`. */

const QUOTE = 0x22
const COMMA = 0x2c
const TYPE_AT = '{"type":"'.length
const AFTER_TYPE = '","seq":'.length
const AFTER_SEQ = ',"event_id":"00000000-0000-0000-0000-000000000000","user_id":"'.length
const [O, B, P, S] = [0x6f, 0x62, 0x70, 0x73]

/** Whether a message is an update (`orders`, `balances`, `positions`) rather than one about the session (`pong`, `subscribed` …). */
export function isUpdate(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start + TYPE_AT]
  return first === O || first === B || (first === P && bytes[start + TYPE_AT + 2] === S)
}

export interface UpdateFields {
  seq: number
  /** The start of the user's id. */
  userAt: number
  userEnd: number
}

/** Reads an update's `seq` and finds its `user_id`. Writes to `place`, because millions of them are read. */
export function readFields(bytes: Uint8Array, start: number, fields: UpdateFields): void {
  let at = start + TYPE_AT
  while (bytes[at] !== QUOTE) at += 1
  at += AFTER_TYPE
  let seq = 0
  for (let byte = bytes[at]; byte !== undefined && byte !== COMMA; byte = bytes[++at]) seq = seq * 10 + byte - 0x30
  fields.seq = seq
  fields.userAt = at + AFTER_SEQ
  for (at = fields.userAt; bytes[at] !== QUOTE; ) at += 1
  fields.userEnd = at
}

/** The number at the end of the ids of a measurement's users. */
export function userNumber(bytes: Uint8Array, { userAt, userEnd }: UpdateFields): number {
  let number = 0
  for (let at = userAt; at < userEnd; at += 1) {
    const digit = (bytes[at] ?? 0) - 0x30
    if (digit >= 0 && digit <= 9) number = number * 10 + digit
  }
  return number
}

/** The id of a measurement's user. */
export function userName(number: number): string {
  return `u${String(number).padStart(6, '0')}`
}
