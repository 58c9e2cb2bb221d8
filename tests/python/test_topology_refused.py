"""Topology files that are refused, with the place of the fault."""

import re

import pytest

from optcp.errors import InputError
from optcp.topology import read
from optcp.topology.base import Source

BAD = [
    ("x.xml", "<a/>", "XML with the outermost element `a`"),
    ("x.json", '{"a": 1}', "JSON with the keys `a`"),
    ("x.json", '{"elements": [], "connections": ', "no JSON: Expecting value in line 1, column 33"),
    ("x.json", '{"elements": [{"uid": "a", "type": "Roadmm"}], "connections": []}', "did you mean `Roadm`?"),
    (
        "x.json",
        '{"elements": [{"udi": "a"}], "connections": []}',
        "`elements[0]`: `uid` is missing; did you mean `udi`?",
    ),
    ("x.json", '{"elements": {}, "connections": []}', "`elements`: expected a list, found {}"),
    ("x.csv", "from,to,rate\nA,B,10\n", "line 2: column `rate`: expected a rate such as `10 Gbps`, or a unit in the"),
    ("x.csv", "from,to,rate (Gbps)\nA,B,many\n", "x.csv`, line 2: column `rate (Gbps)`: expected a rate"),
    ("x.csv", "from,to,loss\nA,B,2\n", "expected a ratio from 0 to 1, found `2`"),
    ("x.csv", "from,to\nA\n", "line 2: 1 fields, and 2 columns"),
    (
        "x.snd",
        "?SNDlib native format\nNODES (\nA\nB )\nLINKS (\nL ( A\nC ) 1 0 0 0 ( ) )",
        "line 7: link `L`: no node `C` is declared",
    ),
    (
        "x.snd",
        "?SNDlib native format\nNODES ( A B )\nDEMANDS (\nD ( C A ) 1 1 UNLIMITED )",
        "line 4: demand `D`: no node `C` is declared",
    ),
    (
        "x.xml",
        "<network><networkStructure><nodes><node id='A'/></nodes>\n<links>\n<link id='L'>\n<source>A</source>\n"
        "<target>C</target></link></links></networkStructure></network>",
        "line 5: link `L`: no node `C` is declared",
    ),
    ("x.snd", "?SNDlib native format\nNODES (\nA ( 1 x )\n)", "line 3: expected a number (latitude), found `x`"),
    ("x.snd", "?SNDlib native format\nNODES (\nA", "the file ends where"),
    ("x.txt", "nothing of the kind", "unsupported file format; expected .gml"),
    ("x.graphml", '<!DOCTYPE a [<!ENTITY b "c">]><graphml>&b;</graphml>', "declares entities, which are not supported"),
    ("x.xml", "<network><networkStructure><nodes><node di='A'/></nodes></networkStructure></network>", "has no `id`"),
    (
        "x.xml",
        "<network><networkStructure><nodes>\n<node id='A'>\n<coordinates>\n<x>1</x>\n<y>2,5</y>\n</coordinates></node>"
        "</nodes></networkStructure></network>",
        "line 5: node `A`: `y`: expected a number, found `2,5`",
    ),
    (
        "x.xml",
        "<network><networkStructure><nodes><node id='A'/></nodes>\n<links>\n<link id='L'>\n<source>A</source></link>"
        "</links></networkStructure></network>",
        "line 3: link `L` has no `target`",
    ),
    (
        "x.graphml",
        "<graphml>\n<key id='d' for='edge' attr.name='length'/><graph>\n<node id='A'/>\n<node id='B'/>\n"
        "<edge source='A' target='B'>\n<data key='d'>1,5</data></edge></graph></graphml>",
        "`x.graphml`, line 5: the link nA-nB has `length` = `1,5`",
    ),
    (
        "x.graphml",
        "<graphml>\n<key id='d' for='node' attr.name='lat'/><graph>\n<node id='A'><data key='d'>91</data></node>"
        "</graph></graphml>",
        "`x.graphml`, line 3: node `nA` has `lat` alone",
    ),
    (
        "x.graphml",
        "<graphml><graph>\n<node id='A'/>\n<edge source='A' target='B'/>\n</graph></graphml>",
        "line 3: the edge from `A` to `B`: no node `B` is declared",
    ),
]


@pytest.mark.parametrize(("name", "content", "says"), BAD)
def test_bad_file_is_refused_with_its_place(name, content, says):
    with pytest.raises(InputError, match=re.escape(says)) as error:
        read(Source(name, content.encode()))
    assert name in str(error.value)
