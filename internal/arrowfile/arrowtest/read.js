// Reads the Arrow files of the standard input, a JSON list, and prints a JSON list of what is in them.
const fs = require("fs");
const arrow = require("apache-arrow");
const pl = require("nodejs-polars");

const text = (v) => (v === null ? null : String(v));
const rowsOf = (table) => table.toArray().map((row) => row.toArray().map(text));

// polarsRows writes integers of 64 bits as text before JavaScript makes floating-point numbers of them.
function polarsRows(path) {
  const frame = pl.scanIPC(path).collectSync();
  const exact = frame.columns.map((name, i) => (String(frame.dtypes[i]) === String(pl.Int64) ? pl.col(name).cast(pl.Utf8) : pl.col(name)));
  return frame.select(...exact).rows().map((row) => row.map(text));
}

function read(path) {
  const bytes = fs.readFileSync(path);
  const footer = bytes.length - 10 - bytes.readInt32LE(bytes.length - 10);
  const table = arrow.tableFromIPC(bytes);
  return {
    Metadata: Object.fromEntries(table.schema.metadata),
    Fields: table.schema.fields.map((f) => ({
      Name: f.name, Type: String(f.type), Nullable: f.nullable, Metadata: Object.fromEntries(f.metadata),
    })),
    Batches: table.batches.map((b) => b.numRows),
    Rows: rowsOf(table),
    FrontToBack: rowsOf(arrow.tableFromIPC(bytes.subarray(8, footer))), // between magic number and footer is a stream
    Polars: polarsRows(path),
  };
}

console.log(JSON.stringify(JSON.parse(fs.readFileSync(0)).map(read)));
