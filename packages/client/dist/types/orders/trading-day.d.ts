/** Whether the trading day, which is the date in New York, may have changed between two instants of this machine's clock. */
export declare function mayDiffer(fromMs: number, toMs: number): boolean;
