"""Why do two tools give different scores? `doctor.doctor` names the settings that explain a reported number.

`lines` holds a run as its lines stand, `settings` what tools do differently, `evaluation` the score under any of them,
`search` tries combinations, `tables` sets two files of scores side by side.
"""
