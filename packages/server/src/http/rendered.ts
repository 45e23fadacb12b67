/** An answer that is JSON already, as bytes. For records that are read far more often than they change. */
export class Rendered {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
