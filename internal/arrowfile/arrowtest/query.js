// Answers the questions of the standard input, a JSON list, by Polars and prints a JSON list of the rows.
const fs = require("fs");
const path = require("path");
const pl = require("nodejs-polars");

const answers = JSON.parse(fs.readFileSync(0)).map(({ Dir, Statement }) => {
  const context = new pl.SQLContext({});
  for (const file of fs.readdirSync(Dir)) {
    context.register(path.parse(file).name, pl.scanIPC(path.join(Dir, file)));
  }
  const frame = context.execute(Statement, { eager: true });
  return frame.select(...frame.columns.map((name) => pl.col(name).cast(pl.Utf8))).rows();
});
console.log(JSON.stringify(answers));
