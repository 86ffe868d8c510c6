"""python3 mcp_client.py SERVER [ARGUMENT…]: an agent's side of the Model Context Protocol, with the official
client. It starts the server and reads one JSON object per line from stdin: {"call": TOOL, "arguments": {…}},
{"read": URI}, {"list": "tools" | "resources" | "templates"} or {"together": [OBJECT…]}, which sends all at
once. It prints each response on one line. The first line is the server's description of itself. It ends at
the end of stdin."""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


def say(what):
    print(json.dumps(what), flush=True)


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def answer(client, asked):
    if "call" in asked:
        progress = []

        async def told(done, total, message):
            progress.append({"done": done, "total": total, "message": message})

        result = await client.call_tool(
            asked["call"], asked.get("arguments", {}), progress_callback=told
        )
        return {
            "is_error": bool(result.is_error),
            "structured": result.structured_content,
            "texts": [block.text for block in result.content],
            "progress": progress,
        }
    if "together" in asked:
        return await asyncio.gather(*(answer(client, one) for one in asked["together"]))
    if "read" in asked:
        result = await client.read_resource(asked["read"])
        return {"contents": [plain(content) for content in result.contents]}
    if asked["list"] == "tools":
        return {"tools": [plain(tool) for tool in (await client.list_tools()).tools]}
    if asked["list"] == "resources":
        return {"resources": [plain(it) for it in (await client.list_resources()).resources]}
    listed = await client.list_resource_templates()
    return {"templates": [plain(it) for it in listed.resource_templates]}


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with Client(server) as client:
        say({"server": plain(client.server_info), "instructions": client.instructions})
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                say(await answer(client, json.loads(line)))
            except MCPError as error:
                say({"protocol_error": str(error)})


asyncio.run(main())
