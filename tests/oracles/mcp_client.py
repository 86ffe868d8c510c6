"""python3 mcp_client.py [--tasks] SERVER [ARGUMENT…]: an agent's side of the Model Context Protocol, with the
official client. It starts the server and reads one JSON object per line from stdin: {"call": TOOL, "arguments": {…}},
{"read": URI}, {"list": "tools" | "resources" | "templates"} or {"together": [OBJECT…]}, which sends all at
once. It prints each response on one line. The first line is the server's description of itself. It ends at
the end of stdin. With --tasks it declares the extension io.modelcontextprotocol/tasks and that it asks its
user; {"begin": TOOL, "arguments": {…}} then calls a tool that may return a task, and {"task": METHOD,
"params": {…}} sends a request about one."""

import asyncio
import json
import sys
from typing import Any, Literal

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.extension import ClientExtension, ResultClaim
from mcp_types import ElicitResult, Request, Result
from pydantic import ConfigDict


def say(what):
    print(json.dumps(what), flush=True)


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class TaskHandle(Result):
    """A task in place of the result of a tool."""

    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"]


class TaskState(Result):
    model_config = ConfigDict(extra="allow")


class TasksExtension(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def claims(self):
        async def unused(handle, context):
            raise RuntimeError("a task is followed by its own requests")

        return [ResultClaim(result_type="task", model=TaskHandle, resolve=unused)]


async def answer(client, asked):
    if "begin" in asked:
        result = await client.session.call_tool(
            asked["begin"], asked.get("arguments", {}), allow_claimed=True
        )
        return {"result": plain(result)}
    if "task" in asked:
        request = Request[dict[str, Any], str](method=asked["task"], params=asked["params"])
        return {"result": plain(await client.session.send_request(request, TaskState))}
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


async def dismiss(context, params):
    """The person at the client closes the question; the test answers it by itself."""
    return ElicitResult(action="cancel")


async def main():
    words, options = sys.argv[1:], {}
    if words[0] == "--tasks":
        words = words[1:]
        options = {"extensions": [TasksExtension()], "elicitation_callback": dismiss}
    server = StdioServerParameters(command=words[0], args=words[1:])
    async with Client(server, **options) as client:
        say({"server": plain(client.server_info), "instructions": client.instructions})
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                say(await answer(client, json.loads(line)))
            except MCPError as error:
                say({"protocol_error": str(error), "code": error.code, "data": error.data})


asyncio.run(main())
