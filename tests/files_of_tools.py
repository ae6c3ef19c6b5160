"""Files as neighbouring tools write them: judgments of rating tools and machines, searches, leaderboards."""

from __future__ import annotations

from typing import Any

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 0, "d": 1}}
RUN = {"1": {"c": 9.5, "x": 8.0, "b": 7.25}, "2": {"a": 3.0, "d": 2.0}}

OPENSEARCH: dict[str, Any] = {
    "name": "n",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "red dress", "ratings": [{"docId": "a", "rating": "3.000"}, {"docId": "b", "rating": "0.4"}]},
        {"query": "q2", "ratings": [{"docId": "a", "rating": 1}]},
    ],
}
JSONL = (
    '{"topic": "1", "document": "a", "grade": 2, "judge": "gpt", "prompt_version": "v1", "confidence": 0.9}\n'
    '{"topic": "1", "document": "b", "grade": "1", "judge": "gpt", "prompt_version": "v1", "confidence": 0.2}\n'
)
QUEPID = 'query,docid,rating\n"red, dress",a,3\nred dress,b,\nq2,c,0\n'
# as Quepid's own templates write them (app/views/api/v1/export, app/controllers/api/v1/books_controller.rb)
QUEPID_NOT_YET = 'query,docid,rating\n"red, dress",a,3\nnot rated yet\nq2,c,0\n'
QUEPID_BOOK = "query,docid,Ann Lee,b@example.org\nred dress,a,3,2\nred dress,b,,1\n -q2,c,0.0,\n"
QUEPID_BOOK_JSON = {
    "name": "Book of Ratings",
    "show_rank": False,
    "support_implicit_judgements": False,
    "scorer": {"name": "nDCG@10", "scale": [0, 1, 2, 3], "scale_with_labels": {"0": "Poor"}},
    "query_doc_pairs": [
        {
            "query_text": "red dress",
            "doc_id": "a",
            "position": 1,
            "document_fields": {"title": "x"},
            "judgements": [
                {"rating": 3.0, "unrateable": False, "judge_later": False, "user_email": "ann@example.org"},
                {"rating": 2.0, "unrateable": False, "judge_later": False, "user_email": "b@example.org"},
            ],
        },
        {
            "query_text": "red dress",
            "doc_id": "b",
            "judgements": [
                {"rating": None, "unrateable": True, "judge_later": False, "user_email": "ann@example.org"},
                {"rating": 1.0, "unrateable": False, "judge_later": False},
            ],
        },
        {"query_text": "q2", "doc_id": "c", "judgements": []},
    ],
}
QUEPID_CASE = {
    "case_name": "Movie Search",
    "options": None,
    "scorer": {"name": "nDCG@10"},
    "queries": [
        {
            "query_text": "Willis",
            "notes": None,
            "ratings": [{"doc_id": "1634", "rating": 0}, {"doc_id": 7, "rating": 3}],
        },
        {"query_text": "star wars", "ratings": []},
    ],
}
DOCCANO = (
    '{"id": 1, "text": "x y", "topic": "1", "document": "a", "label": ["2"]}\n'
    '{"id": 2, "text": "z", "label": ["0 off topic"], "meta": {"topic": "1", "document": "b"}}\n'
    '{"id": 3, "text": "z", "topic": "2", "document": "c", "label": []}\n'
)
TASKS = [
    {"data": {"topic": "1", "document": "a"}, "annotations": [{"result": [{"value": {"choices": ["2"]}}]}]},
    {"data": {"topic": "1", "document": "b"}, "annotations": [{"result": [{"value": {"rating": 0}}]}]},
    {"data": {"topic": "2", "document": "c"}, "annotations": []},
]
TOT = "r1 F1 t1 0.4\nr2 F1 t1 0.3\nr1\tF1\tt2\t0.2\nr2 F1 t2 0.5\nr1 F1 all 0.9\nr2 F1 all 0.1\n"


def request(index: str = "books") -> dict[str, Any]:
    rated = {t: [{"_index": index, "_id": d, "rating": g} for d, g in docs.items()] for t, docs in QRELS.items()}
    asked = [{"id": t, "request": {"query": {"match": {"title": t}}}, "ratings": rated[t]} for t in QRELS]
    return {"requests": asked, "metric": {"precision": {"k": 2}}}


def response(scored: bool = True, index: str = "books") -> dict[str, Any]:
    def hit(doc: str, score: float) -> dict[str, Any]:
        return {"hit": {"_index": index, "_id": doc, "_score": score if scored else None}, "rating": None}

    details = {t: {"metric_score": 0.5, "hits": [hit(d, s) for d, s in docs.items()]} for t, docs in RUN.items()}
    return {"metric_score": 0.5, "details": details, "failures": {}}
