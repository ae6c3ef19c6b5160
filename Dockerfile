# unjudged as an image, for TIRA and anywhere else without Python:
#   docker build -t unjudged .
#   docker run --rm -v "$PWD":/data -w /data unjudged unjudged score qrels.txt run.txt
#   TIRA's evaluator command: python -m unjudged.tira --run $inputRun --truth $inputDataset --output $outputDir
# `python tests/docker_steps.py` runs the same steps in a clean virtual environment, where Docker is absent.
FROM python:3.12 AS build
WORKDIR /source
COPY pyproject.toml setup.py README.md LICENSE ./
COPY src ./src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir --find-links /wheels "unjudged[metadata]"
RUN unjudged --version && python -m unjudged.tira --help
CMD ["unjudged"]
