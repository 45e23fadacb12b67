/** An option of `createConnect` or `open` cannot be used: nothing was opened. */
export declare class ConnectError extends Error {
    readonly name = "ConnectError";
    readonly code = "setting_invalid";
}
