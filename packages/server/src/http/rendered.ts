/** A response body that is already JSON bytes, for records that are read far more often than they change. */
export class Rendered {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
