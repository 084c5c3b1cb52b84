// Runs the SQL statements of the standard input, a JSON list, with DuckDB and prints a JSON list of their rows.
const { DuckDBInstance } = require("@duckdb/node-api");

async function main() {
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  const connection = await (await DuckDBInstance.create()).connect();
  const answers = [];
  for (const statement of JSON.parse(text)) {
    answers.push((await connection.runAndReadAll(statement)).getRowsJson());
  }
  console.log(JSON.stringify(answers));
}

main();
